package stdio

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// An Input is what rank 0 reads. A file or pipe is handed to a rank of this host
// as it is. From a terminal this process reads for it, because a rank is in a
// process group of its own, and the terminal stops groups in the background that
// read from it; and so it does for a rank of another host.
type Input struct {
	stdin        *os.File // nil for nothing
	pump         *pump    // nil unless this process reads
	ours, theirs *os.File // the pipe from the pump to a rank of this host
}

// NewInput returns the input that is read from stdin, which it borrows until Close; nil is nothing. here says that
// rank 0 is of this host.
func NewInput(stdin *os.File, here bool) *Input {
	i := &Input{stdin: stdin}
	if stdin == nil || here && !term.IsTerminal(int(stdin.Fd())) {
		return i
	}
	pump, err := newPump(int(stdin.Fd()))
	if err != nil {
		return i // a rank of this host then inherits the terminal itself
	}
	if here {
		if i.theirs, i.ours, err = os.Pipe(); err != nil {
			pump.close()
			return i
		}
		i.theirs.Fd() // blocking, as a program expects its standard input
	}
	i.pump = pump
	return i
}

// open returns the standard input of rank 0, if that is of this host.
func (i *Input) open(files *Files) (*os.File, error) {
	switch {
	case i.theirs != nil:
		files.Own(i.theirs)
		return i.theirs, nil
	case i.stdin != nil:
		return i.stdin, nil
	}
	return openNull(files)
}

// Begin starts to read for a rank of this host, when the ranks run.
func (i *Input) Begin() {
	if i.ours == nil {
		return
	}
	go func() {
		defer i.ours.Close()
		_ = i.pump.loop(func(p []byte) bool { // of a terminal that is gone
			_, err := i.ours.Write(p)
			return err == nil // or rank 0 has closed its input
		})
	}()
}

// Pass reads for a rank of another host, and gives all of it to take, until that
// returns false, the input ends, or Close is called. take must not keep its argument. The error is why the rest of the
// input cannot be read.
func (i *Input) Pass(take func([]byte) bool) error {
	if i.pump == nil {
		return nil
	}
	return i.pump.loop(take)
}

// Close ends the reading. It does not wait for it.
func (i *Input) Close() {
	if i.pump != nil {
		i.pump.close()
	}
	if i.ours != nil {
		i.ours.SetWriteDeadline(time.Now())
	}
}

// backgroundNap is how often a job in the background looks whether it has
// become the one that the terminal's input is for.
const backgroundNap = 200 * time.Millisecond

// A pump reads a file or terminal, and can be stopped although nothing comes.
type pump struct {
	from         int
	terminal     bool
	stopR, stopW *os.File
	stopped      chan struct{}

	mu    sync.Mutex
	begun bool // the loop gives back what is used
}

func newPump(from int) (*pump, error) {
	stopR, stopW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &pump{from: from, terminal: term.IsTerminal(from), stopR: stopR, stopW: stopW, stopped: make(chan struct{})}, nil
}

// loop runs until the end of the input or of the job, or until take returns
// false. take must not keep its argument. The error is why the rest cannot be read.
func (p *pump) loop(take func([]byte) bool) error {
	p.mu.Lock()
	p.begun = true
	p.mu.Unlock()
	defer p.stopR.Close()
	stop := int(p.stopR.Fd())
	buf := make([]byte, 4096)
	for {
		stopped, err := sys.AwaitReadable(p.from, stop)
		if stopped {
			return nil
		}
		if err != nil {
			return err
		}
		if p.terminal && !sys.InForeground(p.from) {
			select {
			case <-p.stopped:
				return nil
			case <-time.After(backgroundNap):
				continue
			}
		}
		n, err := syscall.Read(p.from, buf)
		if err == syscall.EINTR || err == syscall.EAGAIN {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 || !take(buf[:n]) {
			return nil
		}
	}
}

// close ends the loop. It does not wait for it.
func (p *pump) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.stopped)
	p.stopW.Close()
	if !p.begun {
		p.stopR.Close()
	}
}
