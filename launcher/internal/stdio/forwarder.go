// Package stdio carries the standard input, output and error of ranks: what they print comes
// together in labelled lines, on a terminal with an unfinished one below them, passes as it is,
// or goes to files.
//
// It knows neither processes nor jobs; package launcher starts ranks with the files that it
// opens, and feeds it with what comes from ranks of other hosts.
package stdio

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/namedfile"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"golang.org/x/term"
)

// A Destination says where the output of ranks goes.
type Destination struct {
	// Stdout and Stderr take the output of all ranks. They are borrowed until Close, and until
	// the channel of Settled is closed.
	Stdout, Stderr io.Writer

	// Raw passes bytes on as they come. The default is whole lines, each after the label of
	// its rank.
	Raw bool

	// Dir is a directory, which is made if it is not there, for two files of each rank; Stdout
	// and Stderr get none of its output then. Empty means no directory.
	Dir string
}

// DrainPatience is how long, after all ranks have ended, their output may stay
// open with nothing coming: a process that has left its rank may hold it.
const DrainPatience = 500 * time.Millisecond

// A Forwarder carries the output of ranks to their destination.
type Forwarder struct {
	to       Destination
	broken   chan error // holds the first write error
	terminal int        // descriptor of the terminal that Stdout is, or -1
	stdout   *display
	stderr   *display
	status   *stream // the line of Status, once it is shown

	pipes Pipes
	dir   *os.File // of Destination.Dir; else nil
}

// Open returns a Forwarder to a destination. Its errors are those of a directory that
// cannot be made or opened.
func Open(to Destination) (*Forwarder, error) {
	o := &Forwarder{to: to, broken: make(chan error, 1), terminal: terminalOf(to.Stdout)}
	if to.Dir != "" {
		named := namedfile.File{Named: "output directory", Path: to.Dir, Expected: namedfile.NewDir}
		if err := named.MakeDir(); err != nil {
			return nil, err
		}
		dir, err := os.Open(to.Dir)
		if err != nil {
			return nil, fmt.Errorf("output directory: %w", err)
		}
		o.dir = dir
	}
	// Outputs that end up in the same place share a display, and so a lock: lines of stdout and
	// stderr then do not mix either.
	o.stdout, o.stderr = newDisplay(to.Stdout), newDisplay(to.Stderr)
	if samePlace(to.Stdout, to.Stderr) {
		o.stderr = o.stdout
	}
	return o, nil
}

func newDisplay(w io.Writer) *display {
	fd := terminalOf(w)
	if fd < 0 {
		return &display{}
	}
	return &display{width: func() int { return terminalWidth(fd) }}
}

// terminalWidth returns the number of columns of a terminal, or 0 when it is not known.
func terminalWidth(fd int) int {
	columns, _, _ := term.GetSize(fd)
	return max(columns, 0)
}

// terminalOf returns the descriptor of the terminal that w is, or -1. One that
// cannot erase a line does not count.
func terminalOf(w io.Writer) int {
	f, ok := w.(*os.File)
	if kind := os.Getenv("TERM"); !ok || kind == "" || kind == "dumb" {
		return -1
	}
	// SyscallConn, because Fd would make the file block.
	fd := -1
	if conn, err := f.SyscallConn(); err == nil {
		conn.Control(func(n uintptr) {
			if term.IsTerminal(int(n)) {
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

// Environ returns the variables that tell rank r where its output ends up.
func (o *Forwarder) Environ(r base.Rank) []string {
	if o.terminal < 0 || o.dir != nil {
		return []string{boot.EnvOutputTTY + "=0"}
	}
	env := []string{boot.EnvOutputTTY + "=1"}
	width := terminalWidth(o.terminal)
	if !o.to.Raw {
		width -= len(label(r)) + 1 // the last column stays empty, or the cursor wraps
	}
	if width > 0 {
		env = append(env, boot.EnvOutputWidth+"="+strconv.Itoa(width))
	}
	return env
}

func label(r base.Rank) string { return "[" + strconv.Itoa(int(r)) + "] " }

// A Sink takes one output of one rank, piece by piece, and finally its end. It does not keep the
// pieces.
type Sink interface {
	// Feed takes the next bytes. It may block until there is room for them.
	Feed(p []byte)
	// End says that no more come.
	End()
}

// Sink returns where an output of rank r goes; kind is stdout or stderr. Its errors are those of
// a file in Destination.Dir.
func (o *Forwarder) Sink(r base.Rank, kind string) (Sink, error) {
	if o.dir != nil {
		f, err := o.create(r, kind)
		if err != nil {
			return nil, err
		}
		return &rawSink{output: o, display: &display{}, w: f, closer: f}, nil
	}
	w, d := o.to.Stdout, o.stdout
	if kind == "stderr" {
		w, d = o.to.Stderr, o.stderr
	}
	if o.to.Raw {
		return &rawSink{output: o, display: d, w: w}, nil
	}
	return &stream{
		labeller: labeller{label: []byte(label(r)), live: d.width != nil},
		display:  d, w: w, broken: o.reportBroken,
	}, nil
}

// create makes the file of an output of rank r.
func (o *Forwarder) create(r base.Rank, kind string) (*os.File, error) {
	f, err := sys.CreateIn(o.dir, fmt.Sprintf("%d.%s", r, kind), 0o666)
	if err != nil {
		return nil, fmt.Errorf("output file: %w", err)
	}
	return f, nil
}

// Files opens the standard files of rank r, which is of this host. Rank 0 reads in, and without
// it nothing, as the other ranks do.
func (o *Forwarder) Files(r base.Rank, in *Input) (*Files, error) {
	var stdin func(*Files) (*os.File, error)
	if r == 0 && in != nil {
		stdin = in.open
	}
	return OpenFiles(stdin, func(kind string, f *Files) (*os.File, error) { return o.file(r, kind, f) })
}

// file opens an output for a rank of this host. The rank itself writes output that needs no
// label.
func (o *Forwarder) file(r base.Rank, kind string, files *Files) (*os.File, error) {
	w := o.to.Stdout
	if kind == "stderr" {
		w = o.to.Stderr
	}
	if f, ok := w.(*os.File); ok && o.to.Raw {
		return f, nil
	}
	if o.dir != nil {
		f, err := o.create(r, kind)
		if err == nil {
			files.Own(f)
		}
		return f, err
	}
	s, err := o.Sink(r, kind)
	if err != nil {
		return nil, err
	}
	return o.pipes.Open(s, files)
}

// A rawSink passes bytes on as they come.
type rawSink struct {
	output  *Forwarder
	display *display // whose lock keeps pieces whole
	w       io.Writer
	closer  io.Closer // nil for a writer that is not ours
}

// Feed writes the next bytes.
func (s *rawSink) Feed(p []byte) {
	s.display.mu.Lock()
	defer s.display.mu.Unlock()
	if _, err := s.w.Write(p); err != nil {
		s.output.reportBroken(err)
	}
}

// End closes the file of the output.
func (s *rawSink) End() {
	if s.closer != nil {
		s.closer.Close()
	}
}

// Broken returns the channel with the first error of a write.
func (o *Forwarder) Broken() <-chan error { return o.broken }

// Failed returns that error if nobody has taken it from the channel, else nil. It does not block: output that has not
// settled may still fail.
func (o *Forwarder) Failed() error {
	select {
	case err := <-o.broken:
		return err
	default:
		return nil
	}
}

func (o *Forwarder) reportBroken(err error) {
	select {
	case o.broken <- err:
	default:
	}
}

// Interject lets f write to Stderr between whole lines, soon. Settled waits for it.
func (o *Forwarder) Interject(f func()) {
	o.Go(func() {
		if o.stdout != o.stderr && o.stdout.width != nil {
			o.stdout.interject(o.to.Stdout, func() {})
		}
		o.stderr.interject(o.to.Stderr, f)
	})
}

// Go runs f, which feeds a Sink, in a goroutine that Settled waits for.
func (o *Forwarder) Go(f func()) { o.pipes.reading.Go(f) }

// Settled returns a channel that is closed when everything that was to be
// written is.
func (o *Forwarder) Settled() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.pipes.Wait()
	}()
	return done
}

// Hurry takes the output that is in the pipes now for all that will come: a process that has left
// its rank may hold one open.
func (o *Forwarder) Hurry() { o.pipes.Hurry() }

// Close closes the pipes of ranks and the directory. It drops output that has not settled.
func (o *Forwarder) Close() {
	o.pipes.Close()
	if o.dir != nil {
		o.dir.Close()
	}
}
