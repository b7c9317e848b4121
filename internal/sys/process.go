//go:build linux && !portable

package sys

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// PID is the id of this process.
func PID() int { return os.Getpid() }

// HoldProcess returns a descriptor that stands for process pid as long as it is
// open, also after the process has ended and its number is used again.
func HoldProcess(pid int) (int, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, fmt.Errorf("pidfd_open %d: %w", pid, err)
	}
	return fd, nil
}

// ProcessEnded reports whether the process that HoldProcess returned has ended.
func ProcessEnded(fd int) bool { return AwaitProcessEnd(fd, 0) }

// AwaitProcessEnd waits until the process that HoldProcess returned has ended,
// for at most that long, and reports whether it has.
func AwaitProcessEnd(fd int, limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	for {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, int(max(0, time.Until(deadline).Milliseconds())))
		if err != unix.EINTR || time.Now().After(deadline) {
			return err == nil && n == 1
		}
	}
}
