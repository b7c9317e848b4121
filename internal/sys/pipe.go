//go:build linux && !portable

package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// Pipe returns the two ends of a pipe, which block and are closed on exec.
func Pipe() (read, write int, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, os.NewSyscallError("pipe2", err)
	}
	return fds[0], fds[1], nil
}
