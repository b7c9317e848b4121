package stdio

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// Pipes carry outputs of ranks of this host to sinks, until each output has ended. The zero
// value is ready.
type Pipes struct {
	reading sync.WaitGroup

	mu   sync.Mutex
	ours []*os.File // our ends; guarded by mu
}

// Open makes a pipe and returns the end that a rank writes to, which files then own. A goroutine
// gives to the sink all that comes through it.
func (p *Pipes) Open(to Sink, files *Files) (*os.File, error) {
	ours, theirs, err := outputPipe()
	if err != nil {
		return nil, err
	}
	files.Own(theirs)
	p.mu.Lock()
	p.ours = append(p.ours, ours)
	p.mu.Unlock()
	p.reading.Go(func() { readLoop(ours, to) })
	return theirs, nil
}

// Hurry takes the bytes that are in the pipes now for all that will come: a process that has left
// its rank may hold a pipe open.
func (p *Pipes) Hurry() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pipe := range p.ours {
		pipe.SetReadDeadline(time.Now())
	}
}

// Wait returns when all outputs have ended.
func (p *Pipes) Wait() { p.reading.Wait() }

// Close closes the pipes. It drops the bytes that are still in them.
func (p *Pipes) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pipe := range p.ours {
		pipe.Close()
	}
}

// outputPipe makes a pipe of which only our end is non-blocking: the other one
// belongs to a program that expects an ordinary file.
func outputPipe() (ours, theirs *os.File, err error) {
	read, write, err := sys.Pipe()
	if err != nil {
		return nil, nil, err
	}
	if err := syscall.SetNonblock(read, true); err != nil {
		sys.CloseFile(read)
		sys.CloseFile(write)
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(read), "output of a rank"), os.NewFile(uintptr(write), "output"), nil
}

// readLoop hands on what comes through a pipe until its end.
func readLoop(pipe *os.File, to Sink) {
	defer to.End()
	buf := make([]byte, 16<<10)
	for {
		n, err := pipe.Read(buf)
		if n > 0 {
			to.Feed(buf[:n])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			drain(pipe, buf, to)
			return
		}
		if err != nil {
			return
		}
	}
}

// drain hands on what is in the pipe now, for a deadline must not lose it.
func drain(pipe *os.File, buf []byte, to Sink) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	for n := 1; n > 0; {
		err := conn.Control(func(fd uintptr) { n, _ = syscall.Read(int(fd), buf) })
		if err == nil && n > 0 {
			to.Feed(buf[:n])
		}
	}
}
