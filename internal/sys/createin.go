package sys

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// CreateIn makes the file name in a directory, or empties the one that is there, and
// returns it open for appending. It refuses what somebody else may have put there to have
// another file overwritten, or to make this process wait: a symbolic link, a second name
// of a file, and whatever is no regular file. The caller closes the file; the directory
// stays its own.
func CreateIn(dir *os.File, name string, mode uint32) (*os.File, error) {
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_CREAT|unix.O_WRONLY|unix.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, mode)
	refused := func(what string) error {
		return fmt.Errorf("%s/%s is %s, which output is not written to: remove it, or choose a directory that nobody else can write to", dir.Name(), name, what)
	}
	switch err {
	case nil:
	case unix.ELOOP:
		return nil, refused("a symbolic link")
	case unix.ENXIO, unix.EISDIR:
		return nil, refused("no regular file")
	default:
		return nil, &os.PathError{Op: "open", Path: dir.Name() + "/" + name, Err: err}
	}
	f := os.NewFile(uintptr(fd), dir.Name()+"/"+name)
	info, err := f.Stat()
	var stat unix.Stat_t
	if err == nil {
		err = unix.Fstat(fd, &stat)
	}
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = refused("no regular file")
	case stat.Nlink > 1:
		err = refused("a second name of another file")
	default:
		if err = f.Truncate(0); err == nil {
			err = unix.SetNonblock(fd, false) // a rank inherits it
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
