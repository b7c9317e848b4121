//go:build linux && !portable

package sys

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An Exit is how a process ended.
type Exit struct {
	Status int         // exit status, when Signal is 0
	Signal unix.Signal // the signal that killed it, or 0
	Core   bool        // it left a core dump
}

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

// ReapIfEnded takes the remains of a child that has ended, and reports whether
// it did so. It never blocks.
func ReapIfEnded(pid int) bool {
	got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return err == nil && got == pid
}
