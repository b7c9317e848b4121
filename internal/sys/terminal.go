package sys

import "golang.org/x/sys/unix"

// InForeground reports whether this process may read from the terminal fd: a
// read from the background stops the whole process group.
func InForeground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// AwaitReadable blocks until fd has something to read, or stop has (or either
// was closed at its other end). It reports whether stop is the reason.
func AwaitReadable(fd, stop int) (stopped bool, err error) {
	for {
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(stop), Events: unix.POLLIN}}
		_, err := unix.Poll(polled, -1)
		if err == unix.EINTR {
			continue
		}
		return polled[1].Revents != 0, err
	}
}
