package launcher

import (
	"errors"
	"os"
	"syscall"
)

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

// openRankFiles opens the standard files of a rank, each with its function; an
// output is told by its kind, stdout or stderr. What they open for the rank alone
// they add to own.
func openRankFiles(stdin func(*rankFiles) (*os.File, error), output func(kind string, f *rankFiles) (*os.File, error)) (_ *rankFiles, err error) {
	f := &rankFiles{}
	if f.stdin, err = stdin(f); err == nil {
		f.stdout, err = output("stdout", f)
	}
	if err == nil {
		f.stderr, err = output("stderr", f)
	}
	if err != nil {
		f.closeChildEnds()
		return nil, err
	}
	return f, nil
}

// openNull adds the file that has nothing in it.
func (f *rankFiles) openNull() (*os.File, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	f.own = append(f.own, null)
	return null, nil
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
func readLoop(pipe *os.File, to sink) {
	defer to.end()
	buf := make([]byte, 16<<10)
	for {
		n, err := pipe.Read(buf)
		if n > 0 {
			to.feed(buf[:n])
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
func drain(pipe *os.File, buf []byte, to sink) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	for n := 1; n > 0; {
		err := conn.Control(func(fd uintptr) { n, _ = syscall.Read(int(fd), buf) })
		if err == nil && n > 0 {
			to.feed(buf[:n])
		}
	}
}
