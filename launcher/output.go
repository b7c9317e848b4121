package launcher

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
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
	dir     *os.File   // of OutputDir; else nil
}

func newOutput(cfg Config) (*output, error) {
	o := &output{cfg: cfg, broken: make(chan error, 1), terminal: terminalOf(cfg.Stdout)}
	if cfg.Output == OutputDir {
		if err := os.MkdirAll(cfg.OutputDir, 0o777); err != nil {
			return nil, fmt.Errorf("output directory: %w", err)
		}
		dir, err := os.Open(cfg.OutputDir)
		if err != nil {
			return nil, fmt.Errorf("output directory: %w", err)
		}
		o.dir = dir
	}
	// Outputs that end up in the same place share a display, and so a lock: lines of stdout and
	// stderr then do not mix either.
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

// A sink takes one output of one rank, piece by piece, and finally its end.
type sink interface {
	feed(p []byte)
	end()
}

// sink returns where an output of rank r goes; kind is stdout or stderr.
func (o *output) sink(r Rank, kind string) (sink, error) {
	if o.cfg.Output == OutputDir {
		f, err := o.create(r, kind)
		if err != nil {
			return nil, err
		}
		return &rawSink{output: o, display: &display{}, w: f, closer: f}, nil
	}
	w, d := o.cfg.Stdout, o.stdout
	if kind == "stderr" {
		w, d = o.cfg.Stderr, o.stderr
	}
	if o.cfg.Output == OutputRaw {
		return &rawSink{output: o, display: d, w: w}, nil
	}
	return &stream{
		labeller: labeller{label: []byte(label(r)), live: d.width != nil},
		display:  d, w: w, broken: o.reportBroken,
	}, nil
}

// create makes the file of an output of rank r.
func (o *output) create(r Rank, kind string) (*os.File, error) {
	f, err := sys.CreateIn(o.dir, fmt.Sprintf("%d.%s", r, kind), 0o666)
	if err != nil {
		return nil, fmt.Errorf("output file: %w", err)
	}
	return f, nil
}

// file opens an output for a rank of this host. The rank itself writes output that needs no
// label.
func (o *output) file(r Rank, kind string, files *rankFiles) (*os.File, error) {
	w := o.cfg.Stdout
	if kind == "stderr" {
		w = o.cfg.Stderr
	}
	if f, ok := w.(*os.File); ok && o.cfg.Output == OutputRaw {
		return f, nil
	}
	if o.cfg.Output == OutputDir {
		f, err := o.create(r, kind)
		if err == nil {
			files.own = append(files.own, f)
		}
		return f, err
	}
	s, err := o.sink(r, kind)
	if err != nil {
		return nil, err
	}
	ours, theirs, err := outputPipe()
	if err != nil {
		return nil, err
	}
	files.own = append(files.own, theirs)
	o.pipes = append(o.pipes, ours)
	o.reading.Go(func() { readLoop(ours, s) })
	return theirs, nil
}

// A rawSink passes bytes on as they come.
type rawSink struct {
	output  *output
	display *display // whose lock keeps pieces whole
	w       io.Writer
	closer  io.Closer // nil for a writer that is not ours
}

func (s *rawSink) feed(p []byte) {
	s.display.mu.Lock()
	defer s.display.mu.Unlock()
	if _, err := s.w.Write(p); err != nil {
		s.output.reportBroken(err)
	}
}

func (s *rawSink) end() {
	if s.closer != nil {
		s.closer.Close()
	}
}

func (o *output) reportBroken(err error) {
	select {
	case o.broken <- err:
	default:
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
	if o.dir != nil {
		o.dir.Close()
	}
}
