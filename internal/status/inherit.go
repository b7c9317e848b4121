package status

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Inherit returns the writer of the row with a number in the file that this process has inherited
// from the launcher of its host, which has made it for a number of ranks. The descriptor and its
// variable are gone then, so that no child takes the row for its own. It returns nil, nil where
// there is none. A descriptor that is no such file is left alone.
func Inherit(row, ranks int) (*Writer, error) {
	text := os.Getenv(EnvFD)
	if text == "" {
		return nil, nil
	}
	os.Unsetenv(EnvFD)
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 3 {
		return nil, fmt.Errorf("%s=%.20q: expected a descriptor", EnvFD, text)
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
	file := os.NewFile(uintptr(own), "status")
	w, err := NewWriter(file, row, ranks)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	_ = syscall.Close(fd)
	return w, nil
}
