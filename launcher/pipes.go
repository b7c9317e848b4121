package launcher

import (
	"errors"
	"os"
	"syscall"

	"github.com/gaspi-go/gaspi-go/internal/sys"
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
// output is told by its kind, stdout or stderr. The functions add files that they open for the
// rank alone to own.
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
