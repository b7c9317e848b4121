package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// gaspiRun is the path of the command, built once for all tests.
var gaspiRun string

func TestMain(m *testing.M) {
	testenv.Main(withCommand{m}, map[string]testenv.Role{
		"rank": playRank, "child": playChild, "barriers": ranktest.Rank(gaspi.Config{}, meet), "recorded": ranktest.Rank(gaspi.Config{}, recorded), "ring": ranktest.Rank(gaspi.Config{}, ringReduce), "stuck": ranktest.Rank(gaspi.Config{}, stick),
		"segments": ranktest.Rank(gaspi.Config{}, ringOfSegments), "ahead": ranktest.Rank(gaspi.Config{}, runAhead),
		"stale": ranktest.Rank(gaspi.Config{}, reduceStale), "toil": ranktest.Rank(gaspi.Config{}, toil), "lag": lag,
	})
}

// withCommand is the tests, for which the command is built.
type withCommand struct{ *testing.M }

// Run builds the command and runs the tests.
func (m withCommand) Run() int {
	dir, err := os.MkdirTemp(os.Getenv("GOTMPDIR"), "gaspi-run-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	gaspiRun = filepath.Join(dir, "gaspi-run")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", gaspiRun, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return testenv.Waiting{M: m.M}.Run()
}

// playRank starts a child, says what it is when a signal comes that ends it, and waits for the
// child.
func playRank(ctx context.Context, _ []string) error {
	ends := endSignals()
	child := testenv.Command(ctx, "child")
	child.Stdout = os.Stdout
	if err := child.Start(); err != nil {
		return err
	}
	defer child.Wait()
	<-ends
	fmt.Println("rank")
	return nil
}

// playChild says what it is when a signal comes that ends it.
func playChild(context.Context, []string) error {
	ends := endSignals()
	fmt.Println("ready")
	<-ends
	fmt.Println("child")
	return nil
}

// endSignals returns a channel that receives the first signal that would end this process.
func endSignals() <-chan os.Signal {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	return ends
}

// meet writes to the next rank and passes barriers, for a while unless an argument says at once.
func meet(ctx context.Context, p *gaspi.Proc, args []string) error {
	fmt.Println(os.Getpid())
	seg, err := p.CreateSegment(ctx, 0, 8)
	if err != nil {
		return err
	}
	word, err := seg.Span(0, 8)
	if err != nil {
		return err
	}
	for i := range 150 {
		if err := p.Barrier(ctx, p.World()); err != nil {
			return fmt.Errorf("barrier %d: %w", i, err)
		}
		q, next := p.MustQueue(0), gaspi.Rank((int(p.Rank())+1)%p.Size())
		if err := q.Post(ctx, func() error { return q.Write(seg.At(next, 0), word) }); err != nil {
			return err
		}
		if len(args) == 0 {
			time.Sleep(10 * time.Millisecond) // sleep: a rank computes between barriers
		}
	}
	if err := p.MustQueue(0).Wait(ctx); err != nil {
		return err
	}
	return p.Barrier(ctx, p.World()) // nobody leaves before the last write to it
}

// A launch is a gaspi-run under test, in a session of its own.
type launch struct {
	t      *testing.T
	cmd    *exec.Cmd
	temp   string // its temporary directory, which must stay empty
	stdin  io.WriteCloser
	lines  chan string // its standard output
	stderr *complaints
}

// complaints are what a command writes to its standard error, which may be looked at
// while it runs.
type complaints struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

// Write never fails.
func (e *complaints) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.Write(b)
}

// String is what was written so far.
func (e *complaints) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.String()
}

// start runs gaspi-run. However the test ends, nothing of it survives.
func start(t *testing.T, args ...string) *launch {
	t.Helper()
	return startIn(t, nil, gaspiRun, args...)
}

func startCommand(t *testing.T, name string, args ...string) *launch {
	t.Helper()
	return startIn(t, nil, name, args...)
}

// startIn runs a command in the environment of the test with some more variables.
func startIn(t *testing.T, env []string, name string, args ...string) *launch {
	t.Helper()
	l := &launch{t: t, cmd: exec.Command(name, args...), temp: t.TempDir(), lines: make(chan string, 1<<16), stderr: &complaints{}}
	l.cmd.Env = append(os.Environ(), "TMPDIR="+l.temp, "GASPI_RUN="+gaspiRun)
	l.cmd.Env = append(l.cmd.Env, env...)
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	l.cmd.Stderr = l.stderr
	var err error
	if l.stdin, err = l.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	// StdoutPipe would be closed by Wait, with lines in it that nobody has read yet.
	stdout, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	l.cmd.Stdout = w
	err = l.cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pid := range l.processes() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	go func() {
		defer close(l.lines)
		defer stdout.Close()
		for s := bufio.NewScanner(stdout); s.Scan(); {
			l.lines <- s.Text()
		}
	}()
	return l
}

// line returns the next line of output.
func (l *launch) line() string {
	l.t.Helper()
	select {
	case line, ok := <-l.lines:
		if !ok {
			l.t.Fatalf("the output ended; stderr: %s", l.stderr)
		}
		return line
	case <-time.After(testenv.Limit(l.t)):
		l.t.Fatal("no output came")
	}
	panic("unreachable")
}

// pids returns n numbers that ranks print, one on each line.
func (l *launch) pids(n int) []int {
	l.t.Helper()
	var pids []int
	for range n {
		fields := strings.Fields(l.line())
		pid, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil {
			l.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func (l *launch) signal(sig syscall.Signal) { l.cmd.Process.Signal(sig) }

// wait returns the exit code, and checks that nothing is left.
func (l *launch) wait() int {
	l.t.Helper()
	l.stdin.Close()
	done := make(chan struct{})
	go func() { l.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(testenv.Limit(l.t)):
		l.t.Fatalf("gaspi-run does not end; processes %v", l.processes())
	}
	l.nothingLeft()
	status := l.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return -int(status.Signal())
	}
	return status.ExitStatus()
}

// complaints returns stderr without the lines that only say that something takes long.
func (l *launch) complaints() string { return testenv.Complaints(l.stderr.String()) }

// nothingLeft waits for the session to be empty, and looks for files.
func (l *launch) nothingLeft() {
	l.t.Helper()
	testenv.EventuallySucceeds(l.t, func() error {
		if left := l.processes(); len(left) > 0 {
			return fmt.Errorf("processes left: %v", left)
		}
		return nil
	})
	if files, err := os.ReadDir(l.temp); err != nil || len(files) > 0 {
		l.t.Errorf("files left: %v, %v", files, err)
	}
}

// processes returns those of the session that are no zombies.
func (l *launch) processes() []int {
	var pids []int
	for _, p := range allProcesses() {
		if p.session == l.cmd.Process.Pid && p.state != "Z" {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// A process is what /proc says about one.
type process struct {
	pid, parent, group, session int
	state                       string
}

func allProcesses() []process {
	var all []process
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 4 {
			continue
		}
		p := process{state: fields[0]}
		p.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
		p.parent, _ = strconv.Atoi(fields[1])
		p.group, _ = strconv.Atoi(fields[2])
		p.session, _ = strconv.Atoi(fields[3])
		all = append(all, p)
	}
	return all
}

// stateOf is a letter as ps(1) shows it, or "" for no process. A shell that waits for
// a child which was stopped before it executed anything is as good as stopped.
func stateOf(pid int) string {
	state, stopped := "", false
	for _, p := range allProcesses() {
		if p.pid == pid {
			state = p.state
		}
		stopped = stopped || p.parent == pid && p.state == "T"
	}
	if state == "D" && stopped {
		return "T"
	}
	return state
}

// gone is the condition that a process does not run any more.
func gone(pid int) func() error {
	return func() error {
		if s := stateOf(pid); s != "" && s != "Z" {
			return fmt.Errorf("process %d is there, in state %s", pid, s)
		}
		return nil
	}
}
