package main

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// A terminalSession is gaspi-run on a terminal of 80 columns and 24 lines.
type terminalSession struct {
	t      *testing.T
	cmd    *exec.Cmd
	keys   io.Writer
	pieces chan string // of what it writes; closed at the end
	screen *terminal
}

// onTerminal starts gaspi-run with arguments of a shell's line.
func onTerminal(t *testing.T, args string) *terminalSession {
	t.Helper()
	testenv.Need(t, "script")
	s := &terminalSession{t: t, pieces: make(chan string, 1<<10), screen: newTerminal(80, 24)}
	s.cmd = exec.Command("script", "-qec", `stty rows 24 cols 80; exec "$GASPI_RUN" `+args, "/dev/null")
	s.cmd.Env = append(os.Environ(), "SHELL=/bin/sh", "TERM=xterm", "GASPI_RUN="+gaspiRun)
	var err error
	if s.keys, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stdout, s.cmd.Stderr = w, w
	err = s.cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() }) // the terminal goes with it, which ends what runs there
	go func() {
		defer close(s.pieces)
		defer out.Close()
		b := make([]byte, 4096)
		for {
			n, err := out.Read(b)
			if err != nil {
				return
			}
			s.pieces <- string(b[:n])
		}
	}()
	return s
}

// until waits until the terminal is as done wants it, or the program has ended.
func (s *terminalSession) until(what string, done func() bool) {
	s.t.Helper()
	for !done() {
		select {
		case piece, ok := <-s.pieces:
			if !ok {
				s.t.Fatalf("it ended before %s:\n%v", what, s.screen)
			}
			s.screen.write(piece)
		case <-time.After(testenv.Limit(s.t)):
			s.t.Fatalf("no %s:\n%v", what, s.screen)
		}
	}
}

// shows waits until the terminal shows what a pattern says.
func (s *terminalSession) shows(pattern string) {
	s.t.Helper()
	want := regexp.MustCompile(pattern)
	s.until(pattern, func() bool { return want.MatchString(s.screen.String()) })
}

// wait returns the exit code.
func (s *terminalSession) wait() int {
	for range s.pieces {
	}
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// TestTop watches a job that is stuck from another terminal, of 80 columns and 24 lines.
func TestTop(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	job := start(t, "-n", "3", "--env", testenv.AsRole("stuck"), self)
	name := job.job(3)
	s := onTerminal(t, "top "+name)
	s.shows(`(?m)^job ` + name + `  3 ranks  \S+s  \d\.\d\d\d GB/s
rank 1 waits in Segment\.WaitSome for one of notifications 2-4 of segment 0 \(gasp$
RANK  HOST +STATE +WAITS +GB/S +FOR +CALL
(\d +\S+ +(waiting|in collective) +100 % +0\.000 +\d+\.\d s +(Segment|Proc).*
?){3}$`)
	if !s.screen.second {
		t.Error("it is not on the second screen")
	}
	s.keys.Write([]byte("q"))
	s.until("first screen", func() bool { return !s.screen.second })
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d after q", code)
	}
}

// TestWatch has a job show what its ranks do above their output.
func TestWatch(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SELF", self)
	t.Setenv("ROLE", testenv.AsRole("stuck"))
	s := onTerminal(t, `--watch -n 2 --env "$ROLE" "$SELF"`)
	s.shows(`(?s)^job \S+  2 ranks.*RANK  HOST.*\n1 .*\n\[[01]\] \S+`)
	s.keys.Write([]byte{ctrlC})
	if code := s.wait(); code != 130 {
		t.Errorf("exit code %d after an interrupt", code)
	}
}

func TestTopRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"top"}, 2, "gaspi-run: top: standard output is no terminal; gaspi-run ps says once what the ranks do\n"},
		{[]string{"top", "a", "b"}, 2, "gaspi-run: top: unexpected argument \"b\"; a program of that name is started as ./top; see gaspi-run --help\n"},
		{[]string{"--watch", "-n", "1", "true"}, 0, "gaspi-run: " + noTerminal + "\n"},
	} {
		l := start(t, c.args...)
		if code := l.wait(); code != c.code || l.complaints() != c.says {
			t.Errorf("%s: exit code %d, %q", strings.Join(c.args, " "), code, l.complaints())
		}
	}
}
