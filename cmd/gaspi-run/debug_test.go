package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// fakeDelve stops, as a program in a debugger does, and executes the program when it goes on.
const fakeDelve = `#!/bin/sh
echo "$3"
kill -STOP $$
shift 5
program=$1
shift 2
exec "$program" "$@"
`

// itself is the path of this test program.
func itself(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// inPath makes a script the only program of its name in PATH.
func inPath(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, name), script, 0o755)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// TestDebug has a rank that stops in a debugger, for which no heartbeat is too long.
func TestDebug(t *testing.T) {
	inPath(t, "dlv", fakeDelve)
	t.Setenv("GASPI_HEARTBEAT", "100ms")
	l := start(t, "-n", "3", "--debug", "1", "--env", testenv.AsRole("barriers"), itself(t))
	_, address, _ := strings.Cut(l.line(), "--listen=")
	if !strings.HasPrefix(address, "127.0.0.1:") {
		t.Errorf("the debugger listens on %q", address)
	}
	attach := "gaspi-run: rank 1 waits for its debugger to be told to go on: dlv connect " + address + "\n"
	stopped := regexp.MustCompile(`rank 1 \(pid (\d+)\) is stopped by signal 19 \(stopped \(signal\)\)\n`)
	testenv.Eventually(t, "the rank to be stopped, and its debugger to be named", func() bool {
		said := l.stderr.String()
		return strings.Contains(said, attach) && stopped.MatchString(said)
	})
	pid, err := strconv.Atoi(stopped.FindStringSubmatch(l.stderr.String())[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d, stderr %q", code, l.stderr)
	}
}

func TestDebugThatCannotBe(t *testing.T) {
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	for _, c := range []struct{ ranks, heartbeat, want string }{
		{"0", "0", "there is neither dlv nor gdbserver in PATH to debug ranks with: install Delve"},
		{"0,x", "0", `--debug "0,x": expected ranks such as 0 or 1,3`},
		{"1", "3s", "heartbeat 3s: a rank that stops in a debugger gives no sign of life; leave it out, or say 0"},
	} {
		l := start(t, "-n", "2", "--debug", c.ranks, "--heartbeat", c.heartbeat, sh, "-c", "echo started")
		if code := l.wait(); code == 0 || !strings.HasPrefix(l.complaints(), "gaspi-run: "+c.want) || len(l.lines) > 0 {
			t.Errorf("--debug %s: exit code %d, stderr %q; want %s", c.ranks, code, l.stderr, c.want)
		}
	}
}

// stacksOf checks the stacks of ranks that stick.
func stacksOf(dir string, ranks int) error {
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != ranks {
		return fmt.Errorf("%v: %w", left, err)
	}
	for r := range ranks {
		want := "Proc).Barrier("
		if r == 1 {
			want = "Segment).WaitSome("
		}
		name := fmt.Sprintf("%d.stacks", r)
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), want) {
			return fmt.Errorf("%s: %w, without %s in\n%s", name, err, want, text)
		}
	}
	return nil
}

// TestStacksOnRequest asks for stacks by ps and by SIGQUIT, of ranks of this and another host.
func TestStacksOnRequest(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "stacks")
	l := startOnHosts(t, "localhost:2,b:1", "--stacks", dir, "--env", testenv.AsRole("stuck"), itself(t))
	wrote := "wrote the stacks of 3 of 3 ranks to " + dir + "\n"
	if text := asked(t, l.job(3)); !strings.HasSuffix(text, wrote) {
		t.Errorf("ps says %q", text)
	}
	if err := stacksOf(dir, 3); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	l.signal(syscall.SIGQUIT)
	testenv.Eventually(t, "the stacks", func() bool { return strings.Contains(l.complaints(), "gaspi-run: "+wrote) })
	if err := stacksOf(dir, 3); err != nil {
		t.Error(err)
	}
	l.signal(syscall.SIGTERM)
	if code := l.wait(); code != 143 {
		t.Errorf("exit code %d, stderr %q; want 143", code, l.stderr)
	}
}

// TestStacks ends a job that is stuck.
func TestStacks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "stacks")
	l := start(t, "-n", "2", "--stall-timeout", "250ms", "--on-stall", "abort", "--stacks", dir, "--env", testenv.AsRole("stuck"), itself(t))
	l.job(2)
	if code := l.wait(); code != 124 {
		t.Errorf("exit code %d, stderr %q", code, l.stderr)
	}
	if err := stacksOf(dir, 2); err != nil {
		t.Error(err)
	}
}
