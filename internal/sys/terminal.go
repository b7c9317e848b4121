//go:build linux && !portable

package sys

import "golang.org/x/sys/unix"

// IsTerminal reports whether fd is a terminal.
func IsTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// TerminalWidth returns the number of columns of the terminal fd, or 0 when it
// is not known.
func TerminalWidth(fd int) int {
	size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

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
