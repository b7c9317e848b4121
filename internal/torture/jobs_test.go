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
func runJob(t *testing.T, h *hosts, s settings, transport string, ranks int) (RankReport, error) {
	t.Helper()
	switch transport {
	case "loopback":
		return runGoroutines(t, s.JobOptions, ranks)
	case "mixed":
		return h.run(t, s)
	}
	return runProcesses(t, s, transport, ranks)
}

// runGoroutines runs the ranks of a job in this process.
func runGoroutines(t *testing.T, o JobOptions, ranks int) (RankReport, error) {
	before, err := Count()
	if err != nil {
		return RankReport{}, err
	}
	reports := make([]RankReport, ranks)
	o.Goroutines = ranks
	err = gaspi.Local(t.Context(), ranks, Config(o.Seed), func(ctx context.Context, p *gaspi.Proc) (err error) {
		reports[p.Rank()], err = Run(ctx, p, o)
		return err
	})
	if err == nil {
		err = before.Compare()
	}
	if err != nil {
		return RankReport{}, fmt.Errorf("seed %d, %w", o.Seed, err)
	}
	return merge(reports)
}

// runProcesses runs the ranks of a job as processes of this host. They leave no file.
func runProcesses(t *testing.T, s settings, transport string, ranks int) (RankReport, error) {
	temporary := t.TempDir()
	env := []string{"TMPDIR=" + temporary}
	if transport == "emulated" {
		transport = "shm"
		env = append(env, "GASPI_EMULATE="+emulatedNetwork)
	}
	shared, err := sharedFiles()
	if err != nil {
		return RankReport{}, err
	}
	var out strings.Builder
	result, err := launcher.Run(t.Context(), launcher.Config{
		Program: "/proc/self/exe", Ranks: ranks, Transport: transport, Env: append(env, s.role()),
		Stdout: &out, Stderr: &out, KillGrace: time.Second, Timeout: s.Duration + 3*s.Limit, Heartbeat: time.Minute,
	})
	if err == nil && result.ExitCode != 0 {
		err = fmt.Errorf("exit code %d, %s\n%s", result.ExitCode, result.Sentence, &out)
	}
	if err != nil {
		return RankReport{}, err
	}
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) > 0 {
		return RankReport{}, fmt.Errorf("the job left %v in the temporary folder (%v)", left, err)
	}
	if after, err := sharedFiles(); err != nil || after > shared {
		return RankReport{}, fmt.Errorf("the job left files in /dev/shm: there were %d, and are %d (%v)", shared, after, err)
	}
	return collect(out.String(), ranks)
}

// sharedFiles is how many files of this project are in the folder for shared memory.
func sharedFiles() (int, error) {
	found, err := filepath.Glob("/dev/shm/*gaspi*")
	return len(found), err
}

// collect reads the reports out of what ranks have printed.
func collect(out string, ranks int) (RankReport, error) {
	var reports []RankReport
	for line := range strings.Lines(out) {
		_, text, is := strings.Cut(line, reportMark)
		if !is {
			continue
		}
		var r RankReport
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return RankReport{}, fmt.Errorf("%q: %w", line, err)
		}
		reports = append(reports, r)
	}
	if len(reports) != ranks {
		return RankReport{}, fmt.Errorf("%d of %d ranks have reported:\n%s", len(reports), ranks, out)
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
func (h *hosts) run(t *testing.T, s settings) (RankReport, error) {
	ctx, cancel := context.WithTimeout(t.Context(), s.Duration+3*s.Limit)
	defer cancel()
	args := []string{"--hosts", h.List(hostSlots), "--ssh", h.ssh, "--heartbeat", "1m", "--kill-grace", "1s", "--env", s.role(), h.Self(t)}
	cmd := h.Head().Command(ctx, h.launch, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return RankReport{}, fmt.Errorf("%w\n%s", err, out)
	}
	report, err := collect(string(out), hostCount*hostSlots)
	if err != nil {
		return report, err
	}
	clean, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	return report, h.Clean(clean)
}
