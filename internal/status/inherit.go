package status

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Inherit returns the writer of the row with a number in the file that this process has inherited
// from the launcher of its host, which has made it for some ranks of a job of all. It returns nil, nil where
// there is none.
func Inherit(row, ranks, all int) (w *Writer, err error) {
	_, err = InheritFile(EnvFD, func(file *os.File) (err error) {
		w, err = NewWriter(file, row, ranks, all)
		return err
	})
	return w, err
}

// InheritFile returns the file of the descriptor that a variable of the environment names, if check finds
// that it is what is meant. The descriptor and its variable are gone then, so that no child takes it for
// its own. A file that check refuses is left alone. It returns nil, nil where there is no such variable.
func InheritFile(variable string, check func(*os.File) error) (*os.File, error) {
	text := os.Getenv(variable)
	if text == "" {
		return nil, nil
	}
	os.Unsetenv(variable)
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 3 {
		return nil, fmt.Errorf("%s=%.20q: expected a descriptor", variable, text)
	}
	syscall.ForkLock.RLock()
	own, err := syscall.Dup(fd) // a file of fd itself would close it, whatever it is
	if err == nil {
		syscall.CloseOnExec(own)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	file := os.NewFile(uintptr(own), variable)
	if err := check(file); err != nil {
		_ = file.Close()
		return nil, err
	}
	_ = syscall.Close(fd)
	return file, nil
}
