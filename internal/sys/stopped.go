//go:build linux && !portable

package sys

import "golang.org/x/sys/unix"

// StoppedBy returns the signal that has stopped a child of this process, or 0
// for one that is not stopped. It never blocks, and asking changes nothing.
func StoppedBy(pid int) unix.Signal {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOWAIT|unix.WNOHANG, nil)
	if err != nil || info.Signo == 0 {
		return 0
	}
	return unix.Signal(childStatus(&info))
}
