package launcher

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// drainPatience is how long, after all ranks have ended, their output may stay
// open with nothing coming: a process that has left its rank may hold it.
const drainPatience = 500 * time.Millisecond

// An output carries what the ranks print to where the Config says.
type output struct {
	cfg      Config
	broken   chan error // holds the first write error
	terminal int        // descriptor of the terminal that Stdout is, or -1
	stdout   *display
	stderr   *display

	reading sync.WaitGroup
	pipes   []*os.File // our ends
}

func newOutput(cfg Config) (*output, error) {
	o := &output{cfg: cfg, broken: make(chan error, 1), terminal: terminalOf(cfg.Stdout)}
	if cfg.Output == OutputDir {
		if err := os.MkdirAll(cfg.OutputDir, 0o777); err != nil {
			return nil, fmt.Errorf("output directory: %w", err)
		}
	}
	// What ends up in the same place shares a display, and so a lock: lines of
	// stdout and stderr then do not mix either.
	o.stdout, o.stderr = newDisplay(cfg.Stdout), newDisplay(cfg.Stderr)
	if samePlace(cfg.Stdout, cfg.Stderr) {
		o.stderr = o.stdout
	}
	return o, nil
}

func newDisplay(w io.Writer) *display {
	fd := terminalOf(w)
	if fd < 0 {
		return &display{}
	}
	return &display{width: func() int { return sys.TerminalWidth(fd) }}
}

// terminalOf returns the descriptor of the terminal that w is, or -1. One that
// cannot erase a line does not count.
func terminalOf(w io.Writer) int {
	f, ok := w.(*os.File)
	if term := os.Getenv("TERM"); !ok || term == "" || term == "dumb" {
		return -1
	}
	// SyscallConn, because Fd would make the file block.
	fd := -1
	if conn, err := f.SyscallConn(); err == nil {
		conn.Control(func(n uintptr) {
			if sys.IsTerminal(int(n)) {
				fd = int(n)
			}
		})
	}
	return fd
}

// samePlace reports whether two writers are one file.
func samePlace(a, b io.Writer) bool {
	fa, okA := a.(*os.File)
	fb, okB := b.(*os.File)
	if !okA || !okB {
		return a == b
	}
	infoA, errA := fa.Stat()
	infoB, errB := fb.Stat()
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// environ tells a rank where its output ends up.
func (o *output) environ(r Rank) []string {
	if o.terminal < 0 || o.cfg.Output == OutputDir {
		return []string{boot.EnvOutputTTY + "=0"}
	}
	env := []string{boot.EnvOutputTTY + "=1"}
	width := sys.TerminalWidth(o.terminal)
	if o.cfg.Output == OutputLabel {
		width -= len(label(r)) + 1 // the last column stays empty, or the cursor wraps
	}
	if width > 0 {
		env = append(env, boot.EnvOutputWidth+"="+strconv.Itoa(width))
	}
	return env
}

func label(r Rank) string { return "[" + strconv.Itoa(int(r)) + "] " }

// A rankFiles is what a rank inherits as its standard files.
type rankFiles struct {
	stdin, stdout, stderr *os.File
	own                   []*os.File // to be closed here once the rank has them
}

func (f *rankFiles) closeChildEnds() {
	for _, file := range f.own {
		file.Close()
	}
}

// files opens the standard files of rank r.
func (j *job) files(r Rank) (*rankFiles, error) {
	f := &rankFiles{}
	err := j.openFiles(r, f)
	if err != nil {
		f.closeChildEnds()
		return nil, err
	}
	return f, nil
}

func (j *job) openFiles(r Rank, f *rankFiles) (err error) {
	if f.stdin, err = j.input.file(r, f); err != nil {
		return err
	}
	if f.stdout, err = j.output.file(r, "stdout", f); err != nil {
		return err
	}
	f.stderr, err = j.output.file(r, "stderr", f)
	return err
}

// file opens one output of rank r; kind is stdout or stderr.
func (o *output) file(r Rank, kind string, files *rankFiles) (*os.File, error) {
	w, d := o.cfg.Stdout, o.stdout
	if kind == "stderr" {
		w, d = o.cfg.Stderr, o.stderr
	}
	if f, ok := w.(*os.File); ok && o.cfg.Output == OutputRaw {
		return f, nil
	}
	if o.cfg.Output == OutputDir {
		path := filepath.Join(o.cfg.OutputDir, fmt.Sprintf("%d.%s", r, kind))
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o666)
		if err != nil {
			return nil, fmt.Errorf("output file: %w", err)
		}
		files.own = append(files.own, f)
		return f, nil
	}
	ours, theirs, err := outputPipe()
	if err != nil {
		return nil, err
	}
	files.own = append(files.own, theirs)
	o.pipes = append(o.pipes, ours)
	if o.cfg.Output == OutputRaw {
		o.reading.Go(func() { readLoop(ours, o.rawFeed(w, d), func() {}) })
		return theirs, nil
	}
	s := &stream{
		labeller: labeller{label: []byte(label(r)), live: d.width != nil},
		display:  d, w: w, broken: o.reportBroken,
	}
	o.reading.Go(func() { readLoop(ours, s.feed, s.end) })
	return theirs, nil
}

// rawFeed passes bytes on as they come, to a writer that is no file.
func (o *output) rawFeed(w io.Writer, d *display) func([]byte) {
	return func(p []byte) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if _, err := w.Write(p); err != nil {
			o.reportBroken(err)
		}
	}
}

func (o *output) reportBroken(err error) {
	select {
	case o.broken <- err:
	default:
	}
}

// outputPipe makes a pipe of which only our end is non-blocking: the other one
// belongs to a program that expects an ordinary file.
func outputPipe() (ours, theirs *os.File, err error) {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		syscall.Close(fds[0])
		syscall.Close(fds[1])
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fds[0]), "output of a rank"), os.NewFile(uintptr(fds[1]), "output"), nil
}

// readLoop hands on what comes through a pipe until its end.
func readLoop(pipe *os.File, feed func([]byte), end func()) {
	defer end()
	buf := make([]byte, 16<<10)
	for {
		n, err := pipe.Read(buf)
		if n > 0 {
			feed(buf[:n])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			drain(pipe, buf, feed)
			return
		}
		if err != nil {
			return
		}
	}
}

// drain hands on what is in the pipe now, for a deadline must not lose it.
func drain(pipe *os.File, buf []byte, feed func([]byte)) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	for n := 1; n > 0; {
		err := conn.Control(func(fd uintptr) { n, _ = syscall.Read(int(fd), buf) })
		if err == nil && n > 0 {
			feed(buf[:n])
		}
	}
}

// interject lets f write to Stderr between whole lines, soon. Settle waits for it.
func (o *output) interject(f func()) {
	o.reading.Go(func() {
		if o.stdout != o.stderr && o.stdout.width != nil {
			o.stdout.interject(o.cfg.Stdout, func() {})
		}
		o.stderr.interject(o.cfg.Stderr, f)
	})
}

// settled returns a channel that is closed when everything that was to be
// written is.
func (o *output) settled() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.reading.Wait()
	}()
	return done
}

// hurry takes what is in the pipes now for all that will come: a process that
// has left its rank may hold one open.
func (o *output) hurry() {
	for _, p := range o.pipes {
		p.SetReadDeadline(time.Now())
	}
}

func (o *output) close() {
	for _, p := range o.pipes {
		p.Close()
	}
}
