//go:build linux && !portable

package process

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// awaitExitOnThread waits for a child to end, leaves it to be reaped, and says how it ended. It
// holds a thread.
func awaitExitOnThread(pid int) (Exit, error) {
	for {
		exit, ended, err := peekExit(unix.P_PID, pid, 0)
		if err != nil {
			return Exit{}, fmt.Errorf("wait for process %d: %w", pid, err)
		}
		if ended {
			return exit, nil
		}
	}
}

// peekExit asks for the end of a child without reaping it; kind says what id is.
func peekExit(kind, id, options int) (exit Exit, ended bool, err error) {
	var info unix.Siginfo
	err = unix.Waitid(kind, id, &info, unix.WEXITED|unix.WNOWAIT|options, nil)
	if err == unix.EINTR || err == unix.EAGAIN {
		return Exit{}, false, nil
	}
	if err != nil || info.Signo == 0 {
		return Exit{}, false, err
	}
	status := childStatus(&info)
	const exited, dumped = 1, 3 // CLD_EXITED, CLD_DUMPED of signal.h
	if info.Code == exited {
		return Exit{Status: status}, true, nil
	}
	return Exit{Signal: unix.Signal(status), Core: info.Code == dumped}, true, nil
}

// childStatus reads si_status. In a siginfo of SIGCHLD on 64-bit Linux the union
// begins at byte 16 and holds pid, uid and status, 4 bytes each; x/sys/unix
// names none of them. The structure has 128 bytes, so the read stays inside.
func childStatus(info *unix.Siginfo) int {
	const offset = 16 + 4 + 4
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(info), offset)))
}

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
