package launcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// agentsOf returns the processes that are agents started by this one, by the
// name of their host.
func agentsOf(t *testing.T) map[string]int {
	t.Helper()
	agents := map[string]int{}
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		words, err := os.ReadFile(path)
		environ, err2 := os.ReadFile(filepath.Dir(path) + "/environ")
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		mine := fmt.Sprintf("LAUNCHER_TEST_PID=%d\x00", os.Getpid())
		if err != nil || err2 != nil || !bytes.HasSuffix(words, []byte("\x00agent\x00")) || !bytes.Contains(environ, []byte(mine)) {
			continue
		}
		for kv := range strings.SplitSeq(string(environ), "\x00") {
			if host, ok := strings.CutPrefix(kv, "HOSTNAME="); ok {
				agents[host] = pid
			}
		}
	}
	return agents
}

// lossCase is a job on hosts a and b to which something is done once all its
// ranks have said that they are ready.
type lossCase struct {
	cfg  Config
	wait int // how many lines come before that
	do   func(agents map[string]int, pids []int)
}

func (c lossCase) run(t *testing.T) (o outcome, left []int) {
	t.Helper()
	t.Setenv("LAUNCHER_TEST_PID", strconv.Itoa(os.Getpid()))
	done := false
	pid := regexp.MustCompile(`(?m)pid (\d+)$`)
	out := &capture{seen: func(all string) {
		if found := pid.FindAllStringSubmatch(all, -1); len(found) == c.wait && !done {
			done = true
			for _, f := range found {
				left = append(left, number(t, f[1]))
			}
			agents := agentsOf(t)
			for _, pid := range agents {
				left = append(left, pid)
			}
			c.do(agents, left)
		}
	}}
	c.cfg.Stdout = out
	o, err := runJob(t, c.cfg)
	if err != nil {
		t.Fatal(err)
	}
	o.stdout = out.String()
	if !done {
		t.Fatalf("the ranks did not become ready: %s", o.stdout)
	}
	return o, left
}

// allGone fails unless the processes end.
func allGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		testenv.Eventually(t, fmt.Sprintf("the end of process %d", pid), func() bool { return !isRunning(pid) })
	}
}

// ready is a rank with a child; both say who they are, and wait.
const readyScript = `sleep 1000 & echo child pid $!; echo rank pid $$; wait`

func TestAgentThatIsLost(t *testing.T) {
	cases := []struct {
		name, why string
		do        func(pid int)
	}{
		{"killed", "the connection to its agent has ended", func(pid int) { syscall.Kill(pid, syscall.SIGKILL) }},
		{"told to end", "the connection to its agent has ended", func(pid int) { syscall.Kill(pid, syscall.SIGTERM) }},
		{"stopped", "no sign of life for 2 s", func(pid int) { syscall.Kill(pid, syscall.SIGSTOP) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg := onHosts(t, shell(0, readyScript), "a:2,b:2")
			cfg.Heartbeat = patient
			o, left := lossCase{cfg: cfg, wait: 8, do: func(agents map[string]int, _ []int) { c.do(agents["b"]) }}.run(t)
			want := regexp.MustCompile(`^host b is lost: ` + c.why + ` after [\d.]+ m?s; ended the other 2 ranks\n$`)
			if o.ExitCode != 1 || !want.MatchString(o.notice) {
				t.Errorf("exit code %d, notice %q; want %v", o.ExitCode, o.notice, want)
			}
			for _, e := range o.Ranks[2:] {
				if e.Lost != "host b is lost: "+c.why || e.Status != 1 || e.PID == 0 {
					t.Errorf("%+v, want it lost", e)
				}
			}
			if c.name == "stopped" {
				for _, pid := range left { // as the host would go on when its link is back
					syscall.Kill(pid, syscall.SIGCONT)
				}
			}
			allGone(t, left)
		})
	}
}

func TestRanksGoOnWithoutALostHost(t *testing.T) {
	cfg := onHosts(t, role("survives", 0), "a:1,b:2,localhost:1")
	cfg.OnFailure = Continue
	o, left := lossCase{cfg: cfg, wait: 4, do: func(agents map[string]int, _ []int) { syscall.Kill(agents["b"], syscall.SIGKILL) }}.run(t)
	if o.ExitCode != 1 || !strings.Contains(o.notice, "host b is lost: the connection to its agent has ended") || !strings.Contains(o.notice, "; the other 2 ranks go on\n") {
		t.Errorf("exit code %d, notice %q", o.ExitCode, o.notice)
	}
	want := []string{
		"{Rank:1 Left:false Reason:host b is lost: the connection to its agent has ended}",
		"{Rank:2 Left:false Reason:host b is lost: the connection to its agent has ended}",
	}
	for _, r := range []int{0, 3} {
		got := linesOf(o.stdout, r)[1:]
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, d)
		}
	}
	allGone(t, left)
}

func TestRankOfAHostThatIsStopped(t *testing.T) {
	cfg := onHosts(t, shell(0, readyScript), "a:1,b:2")
	cfg.Heartbeat = patient
	stopped := 0
	o, left := lossCase{cfg: cfg, wait: 6, do: func(_ map[string]int, pids []int) {
		for _, pid := range pids {
			group, _ := syscall.Getpgid(pid) // a rank leads its own, its child does not
			if text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); group == pid && bytes.Contains(text, []byte("GASPI_RANK=2\x00")) {
				stopped = pid
			}
		}
		syscall.Kill(stopped, syscall.SIGSTOP)
	}}.run(t)
	want := fmt.Sprintf(`^rank 2 \(pid %d\) is stopped by signal 19 .*; it is killed if it does not go on within 2 s
rank 2 \(pid %[1]d\) was killed by signal 9 \(killed\) because it was stopped by signal 19 for 2 s after .*; ended the other 2 ranks
$`, stopped)
	if o.ExitCode != 137 || !regexp.MustCompile(want).MatchString(o.notice) {
		t.Errorf("exit code %d, notice %q; want %s", o.ExitCode, o.notice, want)
	}
	allGone(t, left)
}

func TestExitsOfOtherHosts(t *testing.T) {
	cases := []struct {
		name, script string
		code         int
		notice       string
	}{
		{"status", `test $GASPI_RANK != 2 || exit 3; exec sleep 1000`, 3, `^rank 2 \(pid \d+\) exited with status 3 after [\d.]+ m?s; ended the other 3 ranks\n$`},
		{"signal", `test $GASPI_RANK != 3 || kill -SEGV $$; exec sleep 1000`, 139, `^rank 3 \(pid \d+\) was killed by signal 11 \(segmentation fault\)( and dumped core)? after [\d.]+ m?s; ended the other 3 ranks\n$`},
		{"all well", `sleep 1000 >/dev/null 2>&1 & exit 0`, 0, `^$`},
		{"deaf", `trap '' TERM; test $GASPI_RANK = 3 && exit 5; while :; do sleep 0.1; done`, 5, `^rank 3 .* status 5 after .*; (ended the other 3 ranks|waiting for the other 3 ranks to end)\n$`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg := onHosts(t, shell(0, c.script), "a:2,b:2")
			cfg.KillGrace = 500 * time.Millisecond
			o, err := runJob(t, cfg)
			if err != nil || o.ExitCode != c.code || !regexp.MustCompile(c.notice).MatchString(o.notice) {
				t.Errorf("exit code %d, notice %q, %v; want %d, %s", o.ExitCode, o.notice, err, c.code, c.notice)
			}
		})
	}
}

func TestARankCanKillOneOfAnotherHost(t *testing.T) {
	cfg := onHosts(t, role("kills", 0), "localhost,b")
	cfg.OnFailure = Continue
	o, err := runJob(t, cfg)
	if err != nil || o.ExitCode != 137 {
		t.Errorf("exit code %d, %v; want 137", o.ExitCode, err)
	}
	if d := cmp.Diff([]string{"<nil> true"}, linesOf(o.stdout, 0)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestStartThatFailsElsewhere(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := onHosts(t, Config{Program: program}, "b")
	// The host has not got it: its agent removes it before it starts ranks.
	ssh := "#!/bin/sh\nrm '" + program + "'\nexec '" + cfg.Remote.Agent[0] + "' agent\n"
	if err := os.WriteFile(cfg.Remote.SSH[0], []byte(ssh), 0o700); err != nil {
		t.Fatal(err)
	}
	want := "host b: " + program + ": no such program: there is no file " + program + "; the program and its directory must be there too, or be copied with --stage"
	if o, err := runJob(t, cfg); !errors.Is(err, ErrNotFound) || err.Error() != want {
		t.Errorf("%v, want %s; %+v", err, want, o)
	}
}

func TestStaging(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	cfg := onHosts(t, role("args", 0, "x"), "a:2,b:1")
	cfg.Remote.Stage = true
	// With copies, the host needs neither the program nor the agent.
	self := cfg.Program
	cfg.Program = filepath.Join(t.TempDir(), "copy")
	if out, err := exec.Command("cp", self, cfg.Program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o, err := runJob(t, cfg)
	if err != nil || o.ExitCode != 0 {
		t.Fatalf("%v, %+v", err, o)
	}
	for r := range 3 {
		if d := cmp.Diff([]string{strconv.Quote(cfg.Program), `"x"`}, linesOf(o.stdout, r)); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, d)
		}
	}
	if files, err := os.ReadDir(temp); err != nil || len(files) > 0 {
		t.Errorf("files left: %v, %v", files, err)
	}
}

func TestStagingAScript(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // where copies go, which are executed
	program := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho rank $GASPI_RANK \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := onHosts(t, Config{Program: program, Args: []string{"a b", "c"}}, "a:1,localhost:1,b:1")
	cfg.Remote.Stage = true
	o, err := runJob(t, cfg)
	if err != nil || o.ExitCode != 0 {
		t.Fatalf("%v, %+v", err, o)
	}
	for r := range 3 {
		if d := cmp.Diff([]string{fmt.Sprintf("rank %d a b c", r)}, linesOf(o.stdout, r)); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, d)
		}
	}
}

func TestCancelWhileAgentsComeUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg := onHosts(t, role("wait", 0), "a,silent")
	cfg.Log = func(line string) {
		if strings.HasPrefix(line, "host 0 is a") {
			cancel()
		}
	}
	if _, err := Run(ctx, cfg); err == nil || ctx.Err() == nil {
		t.Errorf("%v, want the end of ctx", err)
	}
}
