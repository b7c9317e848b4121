package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// idle is a rank that says it is there and then only waits; what follows ends up
// in its output when a signal is trapped.
const idle = `while :; do sleep 0.01; done`

func TestCommandLine(t *testing.T) {
	cases := []struct {
		name   string
		args   []string
		code   int
		stderr string // the whole of it, one line
	}{
		{"output", []string{"--output", "dir:main.go/x", "true"}, 1, `gaspi-run: output directory "main.go/x": "main.go" is there and no directory; expected a directory, or the name of a new one `},
		{"stacks", []string{"--stacks", "main.go", "true"}, 1, `gaspi-run: directory for stacks "main.go": it is there and no directory; expected a directory, or the name of a new one `},
		{"stacks where no file can be", []string{"--stacks", "/proc", "true"}, 1, `gaspi-run: directory for stacks "/proc": no file can be made in it: `},
		{"interface of another host", []string{"--hosts", "b", "--interface", "nope0", "true"}, 1, `gaspi-run: listen for other hosts: network interface "nope0": `},
		{"interface", []string{"-n", "2", "--interface", "nope0", "true"}, 1, `gaspi-run: network interface "nope0": there is no "nope0"; this host has `},
		{"interface in a map", []string{"-n", "2", "--dry-run", "--interface", "nope0", "true"}, 1, `gaspi-run: network interface "nope0": there is no "nope0"; this host has `},
		{"interface that is there", []string{"-n", "2", "--interface", "127.0.0.1", "true"}, 0, ""},
		{"no ssh", []string{"--hosts", "b", "--ssh", "/nowhere/ssh", "true"}, 1, "gaspi-run: host b: fork/exec /nowhere/ssh: no such file or directory"},
		{"timeout", []string{"-n", "1", "--timeout", "50ms", "sleep", "1000"}, 124, "gaspi-run: timed out after 50ms; ended the rank"},
		{"fine", []string{"-n", "1", "true"}, 0, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := start(t, c.args...)
			code := l.wait()
			if got := l.complaints(); code != c.code || !strings.HasPrefix(got, c.stderr) || strings.Count(got, "\n") > 1 {
				t.Errorf("exit code %d, stderr %q; want %d, %q", code, got, c.code, c.stderr)
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	for flag, want := range map[string]string{"--help": "Usage: gaspi-run [flags] PROGRAM [ARGS...]", "--version": "gaspi-run ",
		"help": "Usage: gaspi-run [flags] PROGRAM [ARGS...]", "version": "gaspi-run "} {
		l := start(t, flag)
		if line := l.line(); !strings.HasPrefix(line, want) {
			t.Errorf("%s begins with %q, want %q", flag, line, want)
		}
		if code := l.wait(); code != 0 {
			t.Errorf("%s: exit code %d", flag, code)
		}
	}
}

// Goal: output that cannot be written is one sentence and exit code 1.
func TestOutputThatCannotBeWritten(t *testing.T) {
	for _, args := range []string{"--help", "help", "--version", "version", "info", "completion bash", "completion zsh", "completion fish", "--dry-run -n 2 true"} {
		stderr, code := testenv.OnFullDisk(t, exec.Command(gaspiRun, strings.Fields(args)...))
		const want = "gaspi-run: cannot write the output: write /dev/stdout: no space left on device\n"
		if code != exitFailed || stderr != want {
			t.Errorf("%s: exit code %d, stderr %q; want %d, %q", args, code, stderr, exitFailed, want)
		}
	}
}

func TestSignalsReachAllRanksAndTheirChildren(t *testing.T) {
	// Under nohup a hangup is ignored, and stays so in programs that are started, unless
	// somebody listens.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	cases := []struct {
		sig  syscall.Signal
		name string
		code int
	}{{syscall.SIGINT, "SIGINT", 130}, {syscall.SIGTERM, "SIGTERM", 143}, {syscall.SIGHUP, "SIGHUP", 129}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := start(t, "-n", "3", "--env", testenv.AsRole("rank"), self)
			for range 3 {
				l.line()
			}
			l.signal(c.sig)
			var got []string
			for range 6 {
				got = append(got, l.line())
			}
			slices.Sort(got)
			want := []string{"[0] child", "[0] rank", "[1] child", "[1] rank", "[2] child", "[2] rank"}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if code := l.wait(); code != c.code || !strings.HasPrefix(l.complaints(), "gaspi-run: interrupted by "+c.name) {
				t.Errorf("exit code %d, stderr %q; want %d", code, l.stderr, c.code)
			}
		})
	}
}

func TestSecondInterruptKills(t *testing.T) {
	l := start(t, "-n", "2", "--kill-grace", "1h", "sh", "-c", `trap 'echo no' INT; echo ready; `+idle)
	l.line()
	l.line()
	l.signal(syscall.SIGINT)
	l.line()
	l.line()
	l.signal(syscall.SIGINT)
	if code := l.wait(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}

func TestKillGraceEndsDeafRanks(t *testing.T) {
	l := start(t, "-n", "3", "--kill-grace", "50ms", "sh", "-c", `trap '' TERM; echo ready; test $GASPI_RANK = 0 && { read x; exit 6; }; `+idle)
	for range 3 {
		l.line()
	}
	pids := l.processes()
	if code := l.wait(); code != 6 { // rank 0 ends with its input
		t.Errorf("exit code %d, want 6", code)
	}
	for _, pid := range pids {
		testenv.EventuallySucceeds(t, gone(pid))
	}
}

func TestHangupStaysIgnored(t *testing.T) {
	l := startCommand(t, "sh", "-c", `trap '' HUP; exec "$GASPI_RUN" -n 1 sh -c 'echo ready; read line; echo $line'`)
	l.line()
	l.signal(syscall.SIGHUP)
	fmt.Fprintln(l.stdin, "still here")
	if got := l.line(); got != "[0] still here" {
		t.Errorf("%q", got)
	}
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestOtherSignalsArePassedOn(t *testing.T) {
	l := start(t, "-n", "2", "sh", "-c", `trap 'echo usr1; exit 0' USR1; echo ready; `+idle)
	l.line()
	l.line()
	l.signal(syscall.SIGUSR1)
	got := []string{l.line(), l.line()}
	slices.Sort(got)
	if d := cmp.Diff([]string{"[0] usr1", "[1] usr1"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d, want 0: the ranks ended well", code)
	}
}

func TestSuspendAndResume(t *testing.T) {
	l := start(t, "-n", "2", "sh", "-c", `echo $$; read x; `+idle)
	pids := append(l.pids(2), l.cmd.Process.Pid)
	inState := func(stopped bool) func() error {
		return func() error {
			for _, pid := range pids {
				if s := stateOf(pid); (s == "T") != stopped {
					return fmt.Errorf("process %d is in state %q", pid, s)
				}
			}
			return nil
		}
	}
	l.signal(syscall.SIGTSTP)
	testenv.EventuallySucceeds(t, inState(true))
	l.signal(syscall.SIGCONT)
	testenv.EventuallySucceeds(t, inState(false))
	l.signal(syscall.SIGTERM)
	if code := l.wait(); code != 143 {
		t.Errorf("exit code %d, want 143", code)
	}
}

func TestInputOfRankZero(t *testing.T) {
	l := start(t, "-n", "3", "sh", "-c", `cat; echo end`)
	for i := range 1000 {
		fmt.Fprintln(l.stdin, i)
	}
	l.stdin.Close()
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	got := map[string][]string{}
	for line := range l.lines {
		got[line[:4]] = append(got[line[:4]], line[4:])
	}
	var numbers []string
	for i := range 1000 {
		numbers = append(numbers, strconv.Itoa(i))
	}
	want := map[string][]string{"[0] ": append(numbers, "end"), "[1] ": {"end"}, "[2] ": {"end"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestLauncherKilledByNine(t *testing.T) {
	t.Parallel()
	// Each rank has a child, and a grandchild that ignores what can be ignored.
	l := start(t, "-n", "3", "sh", "-c", `(trap '' TERM HUP INT; echo $$; `+idle+`) & sleep 1000 & echo $!; wait`)
	pids := append(l.pids(6), l.processes()...)
	if len(pids) < 6+1+3*3+1 {
		t.Errorf("processes %v: want 3 ranks with their children, gaspi-run and what watches over it", pids)
	}
	l.signal(syscall.SIGKILL)
	if code := l.wait(); code != -9 {
		t.Errorf("exit code %d, want killed by 9", code)
	}
	for _, pid := range pids {
		testenv.EventuallySucceeds(t, gone(pid))
	}
}

func TestProcessesThatLeaveTheirGroupEnd(t *testing.T) {
	testenv.Need(t, "setsid")
	l := start(t, "-n", "2", "--kill-grace", "100ms", "sh", "-c", `setsid sh -c 'trap "" TERM; echo $$; exec >/dev/null; `+idle+`' & test $GASPI_RANK = 1 && exec sleep 1000; read x; exit 1`)
	pids := l.pids(2)
	if code := l.wait(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for _, pid := range pids {
		testenv.EventuallySucceeds(t, gone(pid))
	}
}

func TestOrphansAreReaped(t *testing.T) {
	l := start(t, "-n", "1", "sh", "-c", `i=0; while [ $i -lt 30 ]; do (sleep 0 &); i=$((i+1)); done; echo ready; read x`)
	l.line()
	testenv.EventuallySucceeds(t, func() error {
		zombies := 0
		for _, p := range allProcesses() {
			if p.parent == l.cmd.Process.Pid && p.state == "Z" {
				zombies++
			}
		}
		if zombies > 0 {
			return fmt.Errorf("%d zombies", zombies)
		}
		return nil
	})
	if code := l.wait(); code != 1 { // read fails at the end of the input
		t.Errorf("exit code %d", code)
	}
}

func TestOutputThatIsClosedEndsTheJob(t *testing.T) {
	l := startCommand(t, "sh", "-c", `{ "$GASPI_RUN" -n 2 yes; echo $? >&2; } | head -n 2`)
	if code := l.wait(); code != 0 {
		t.Errorf("exit code of head %d", code)
	}
	if got := l.complaints(); got != "141\n" {
		t.Errorf("stderr %q, want the exit code 141 and nothing else", got)
	}
}

func TestOnATerminal(t *testing.T) {
	testenv.Need(t, "script")
	rank := filepath.Join(t.TempDir(), "rank.sh")
	text := "#!/bin/sh\n[ $GASPI_RANK = 0 ] || exit 0\nprintf 'name? '; read name\necho \"hello $name, tty=$GASPI_OUTPUT_TTY width=$GASPI_OUTPUT_WIDTH\"\n"
	if err := os.WriteFile(rank, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RANK", rank)
	t.Setenv("TERM", "xterm")
	t.Setenv("SHELL", "/bin/sh")
	l := startCommand(t, "script", "-qec", `stty cols 60; exec "$GASPI_RUN" -n 2 "$RANK"`, "/dev/null")
	fmt.Fprintln(l.stdin, "you")
	var all string
	for !strings.Contains(all, "hello") {
		all += l.line() + "\n"
	}
	if want := "name? hello you, tty=1 width=55"; !strings.Contains(all, want) {
		t.Errorf("%q; want it to contain %q", all, want)
	}
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestCycles starts and stops many jobs and looks for what they leave behind.
// GASPI_TEST_CYCLES says how many.
func TestCycles(t *testing.T) {
	cycles := 25
	if text := os.Getenv("GASPI_TEST_CYCLES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("GASPI_TEST_CYCLES=%q: expected a number of at least 1", text)
		}
		cycles = n
	}
	temp := t.TempDir()
	before := sharedFiles()
	sessions := map[int]bool{}
	for i := range cycles {
		cmd := exec.Command(gaspiRun, "-n", "4", "sh", "-c", "sleep 0 & exit 0")
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if out, err := cmd.CombinedOutput(); err != nil || testenv.Complaints(string(out)) != "" {
			t.Fatalf("job %d: %v, %q", i, err, out)
		}
		sessions[cmd.Process.Pid] = true
	}
	for _, p := range allProcesses() {
		if sessions[p.session] {
			t.Errorf("left behind: %+v", p)
		}
	}
	if files, err := os.ReadDir(temp); err != nil || len(files) > 0 {
		t.Errorf("files left: %v, %v", files, err)
	}
	// Programs of other tests have files there too, while they run.
	added := slices.DeleteFunc(sharedFiles(), func(name string) bool { return slices.Contains(before, name) })
	testenv.EventuallySucceeds(t, func() error {
		for _, name := range added {
			if slices.Contains(sharedFiles(), name) {
				return fmt.Errorf("%s is left in %s", name, sharedMemory)
			}
		}
		return nil
	})
}

const sharedMemory = "/dev/shm"

// sharedFiles are the names of the files in shared memory, of whomever.
func sharedFiles() []string {
	var names []string
	entries, _ := os.ReadDir(sharedMemory)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestInterruptWhileNobodyReadsTheOutput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() // after the end of the test: it is never read
	stderr, stderrW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	cmd := exec.Command(gaspiRun, "-n", "2", "sh", "-c", `(echo ready >&2) & exec yes`)
	cmd.Stdout, cmd.Stderr = w, stderrW
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(testenv.Limit(t), func() { cmd.Process.Kill() }).Stop() // or the reader below could wait for ever
	w.Close()
	stderrW.Close()
	for in := bufio.NewScanner(stderr); in.Scan(); {
		if strings.Contains(in.Text(), "ready") {
			break
		}
	}
	go io.Copy(io.Discard, stderr)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	testenv.EventuallySucceeds(t, func() error {
		select {
		case <-ended:
			return nil
		default:
			cmd.Process.Signal(syscall.SIGINT)
			return fmt.Errorf("gaspi-run goes on")
		}
	})
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}
