package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv/cluster"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// The hosts of mixed jobs: ranks of one share memory, ranks of two are connected by TCP.
const (
	hostCount = 2
	hostSlots = 3
)

// emulatedNetwork is what ranks of emulated jobs are connected by.
const emulatedNetwork = "latency=50us,bandwidth=1GB/s,jitter=20us"

// runJob runs one job and returns what its ranks have done, all together.
func runJob(t *testing.T, h *hosts, s settings, transport string, ranks int) (Report, error) {
	t.Helper()
	switch transport {
	case "loopback":
		return runGoroutines(t, s.Options, ranks)
	case "mixed":
		return h.run(t, s)
	}
	return runProcesses(t, s, transport, ranks)
}

// runGoroutines runs the ranks of a job in this process.
func runGoroutines(t *testing.T, o Options, ranks int) (Report, error) {
	before, err := Count()
	if err != nil {
		return Report{}, err
	}
	reports := make([]Report, ranks)
	err = gaspi.Local(t.Context(), ranks, Config(o.Seed), func(ctx context.Context, p *gaspi.Proc) (err error) {
		reports[p.Rank()], err = Run(ctx, p, o)
		return err
	})
	if err == nil {
		err = before.Compare()
	}
	if err != nil {
		return Report{}, fmt.Errorf("seed %d, %w", o.Seed, err)
	}
	return merge(reports)
}

// runProcesses runs the ranks of a job as processes of this host. They leave no file.
func runProcesses(t *testing.T, s settings, transport string, ranks int) (Report, error) {
	temporary := t.TempDir()
	env := []string{"TMPDIR=" + temporary}
	if transport == "emulated" {
		transport = "shm"
		env = append(env, "GASPI_EMULATE="+emulatedNetwork)
	}
	shared, err := sharedFiles()
	if err != nil {
		return Report{}, err
	}
	var out strings.Builder
	result, err := launcher.Run(t.Context(), launcher.Config{
		Program: "/proc/self/exe", Args: append(s.flags(), "-rank"), Ranks: ranks, Transport: transport, Env: env,
		Stdout: &out, Stderr: &out, KillGrace: time.Second, Timeout: s.Duration + 3*s.Limit, Heartbeat: time.Minute,
	})
	if err == nil && result.ExitCode != 0 {
		err = fmt.Errorf("exit code %d, %s\n%s", result.ExitCode, result.Sentence, &out)
	}
	if err != nil {
		return Report{}, err
	}
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) > 0 {
		return Report{}, fmt.Errorf("the job left %v in the temporary folder (%v)", left, err)
	}
	if after, err := sharedFiles(); err != nil || after > shared {
		return Report{}, fmt.Errorf("the job left files in /dev/shm: there were %d, and are %d (%v)", shared, after, err)
	}
	return collect(out.String(), ranks)
}

// sharedFiles is how many files of this project are in the folder for shared memory.
func sharedFiles() (int, error) {
	found, err := filepath.Glob("/dev/shm/*gaspi*")
	return len(found), err
}

// collect reads the reports out of what ranks have printed.
func collect(out string, ranks int) (Report, error) {
	var reports []Report
	for line := range strings.Lines(out) {
		_, text, is := strings.Cut(line, reportMark)
		if !is {
			continue
		}
		var r Report
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return Report{}, fmt.Errorf("%q: %w", line, err)
		}
		reports = append(reports, r)
	}
	if len(reports) != ranks {
		return Report{}, fmt.Errorf("%d of %d ranks have reported:\n%s", len(reports), ranks, out)
	}
	return merge(reports)
}

// hosts are where mixed jobs run.
type hosts struct {
	*cluster.Cluster
	launch, ssh string
}

func newHosts(t *testing.T) *hosts {
	t.Helper()
	h := &hosts{Cluster: cluster.New(t, hostCount)}
	h.launch = h.Build(t, "github.com/gaspi-go/gaspi-go/cmd/gaspi-run") + "/gaspi-run"
	h.ssh = h.SSH()
	return h
}

// run runs a job on all hosts, which it must leave as they were.
func (h *hosts) run(t *testing.T, s settings) (Report, error) {
	ctx, cancel := context.WithTimeout(t.Context(), s.Duration+3*s.Limit)
	defer cancel()
	args := []string{"--hosts", h.List(hostSlots), "--ssh", h.ssh, "--heartbeat", "1m", "--kill-grace", "1s", h.Self(t)}
	cmd := h.Head().Command(ctx, h.launch, append(append(args, s.flags()...), "-rank")...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return Report{}, fmt.Errorf("%w\n%s", err, out)
	}
	report, err := collect(string(out), hostCount*hostSlots)
	if err != nil {
		return report, err
	}
	clean, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	return report, h.Clean(clean)
}
