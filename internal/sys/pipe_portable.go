//go:build !linux || portable

package sys

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Pipe returns the two ends of a pipe, which block and are closed on exec.
func Pipe() (read, write int, err error) {
	syscall.ForkLock.RLock() // no process may start between the two calls
	defer syscall.ForkLock.RUnlock()
	var fds [2]int
	if err := unix.Pipe(fds[:]); err != nil {
		return -1, -1, os.NewSyscallError("pipe", err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	return fds[0], fds[1], nil
}
