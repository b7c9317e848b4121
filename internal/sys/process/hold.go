//go:build linux && !portable

package process

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// Hold returns a descriptor that stands for process pid as long as it is
// open, also after the process has ended and its number is used again. Where the system
// refuses pidfds it is that of the process's directory in /proc, if that has its number.
// The error matches os.ErrProcessDone if there is no such process any more.
func Hold(pid int) (int, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if sys.CallRefused(err) && sys.OwnProc() {
		fd, err = unix.Open(fmt.Sprintf("/proc/%d", pid), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	if err == unix.ESRCH || err == unix.ENOENT { // of a pidfd, and of a directory
		err = os.ErrProcessDone
	}
	if err != nil {
		return -1, fmt.Errorf("pidfd_open %d: %w", pid, err)
	}
	return fd, nil
}

// AwaitEnd waits until the process that Hold returned has ended,
// for at most that long, and reports whether it has.
func AwaitEnd(fd int, limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	for {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, int(max(0, time.Until(deadline).Milliseconds())))
		if n == 1 && isDirectory(fd) { // which poll says nothing about
			return awaitEndOfDirectory(fd, deadline)
		}
		if err != unix.EINTR || time.Now().After(deadline) {
			return err == nil && n == 1
		}
	}
}

func isDirectory(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR
}

// awaitEndOfDirectory is AwaitEnd for a directory of /proc.
func awaitEndOfDirectory(fd int, deadline time.Time) bool {
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 10*time.Millisecond) {
		if directoryEnded(fd) {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause) // sleep: nothing but a pidfd tells of the end of another process
	}
}

// directoryEnded reports whether the process of a directory of /proc has ended: it is a
// zombie, or reaped, whereupon nothing in the directory can be opened.
func directoryEnded(fd int) bool {
	file, err := unix.Openat(fd, "stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err == unix.ESRCH || err == unix.ENOENT
	}
	defer unix.Close(file)
	var text [512]byte
	n, err := unix.Read(file, text[:])
	if err != nil {
		return err == unix.ESRCH
	}
	// The state is the third word, behind the name in parentheses.
	_, rest, _ := strings.Cut(string(text[bytes.LastIndexByte(text[:n], ')')+1:n]), " ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}
