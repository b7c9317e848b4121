package launcher

import (
	"os"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// An input is what rank 0 reads. A file or pipe is handed to it as it is. From
// a terminal this process reads for it, because a rank is in a process group of
// its own, and the terminal stops groups in the background that read from it.
type input struct {
	stdin *os.File // nil for nothing
	pump  *pump    // nil unless stdin is a terminal
}

func newInput(stdin *os.File) *input {
	i := &input{stdin: stdin}
	if stdin != nil && sys.IsTerminal(int(stdin.Fd())) {
		i.pump = newPump(int(stdin.Fd()))
	}
	return i
}

// file opens the standard input of rank r.
func (i *input) file(r Rank, files *rankFiles) (*os.File, error) {
	switch {
	case r == 0 && i.pump != nil:
		files.own = append(files.own, i.pump.theirs)
		return i.pump.theirs, nil
	case r == 0 && i.stdin != nil:
		return i.stdin, nil
	}
	return files.openNull()
}

// begin starts to read, when the ranks run.
func (i *input) begin() {
	if i.pump != nil {
		go i.pump.loop()
	}
}

func (i *input) close() {
	if i.pump != nil {
		i.pump.close()
	}
}

// backgroundNap is how often a job in the background looks whether it has
// become the one that the terminal's input is for.
const backgroundNap = 200 * time.Millisecond

// A pump carries bytes from a terminal into a pipe.
type pump struct {
	terminal     int
	ours, theirs *os.File // the pipe
	stopR, stopW *os.File
	stopped      chan struct{}
}

// newPump returns nil when the system has no pipes left; rank 0 then inherits
// the terminal itself.
func newPump(terminal int) *pump {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil
	}
	theirs.Fd() // blocking, as a program expects its standard input
	stopR, stopW, err := os.Pipe()
	if err != nil {
		ours.Close()
		theirs.Close()
		return nil
	}
	return &pump{terminal: terminal, ours: ours, theirs: theirs, stopR: stopR, stopW: stopW, stopped: make(chan struct{})}
}

// loop runs until the end of the input or of the job.
func (p *pump) loop() {
	defer p.stopR.Close()
	defer p.ours.Close()
	stop := int(p.stopR.Fd())
	buf := make([]byte, 4096)
	for {
		stopped, err := sys.AwaitReadable(p.terminal, stop)
		if stopped || err != nil {
			return
		}
		if !sys.InForeground(p.terminal) {
			select {
			case <-p.stopped:
				return
			case <-time.After(backgroundNap):
				continue
			}
		}
		n, err := syscall.Read(p.terminal, buf)
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return
		}
		if _, err := p.ours.Write(buf[:n]); err != nil {
			return // rank 0 has closed its input
		}
	}
}

// close ends the loop, also while rank 0 does not read. It does not wait for it.
func (p *pump) close() {
	close(p.stopped)
	p.ours.SetWriteDeadline(time.Now())
	p.stopW.Close()
}
