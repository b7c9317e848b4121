//go:build linux && !portable

package sys

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An Exit is how a process ended.
type Exit struct {
	Status int         // exit status, when Signal is 0
	Signal unix.Signal // the signal that killed it, or 0
	Core   bool        // it left a core dump
}

// AwaitExit waits for a child of this process to end and says how it did. The
// child is not reaped: its number, and that of its process group, stay taken
// until somebody waits for it. No thread is held meanwhile.
func AwaitExit(pid int) (Exit, error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return Exit{}, fmt.Errorf("pidfd_open %d: %w", pid, err)
	}
	f := os.NewFile(uintptr(fd), "pidfd") // non-blocking, so the poller takes it
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return Exit{}, fmt.Errorf("pidfd of %d: %w", pid, err)
	}
	var exit Exit
	var waitErr error
	err = conn.Read(func(fd uintptr) bool {
		var ended bool
		exit, ended, waitErr = peekExit(int(fd))
		return ended || waitErr != nil
	})
	if waitErr != nil {
		err = waitErr
	}
	if err != nil {
		return Exit{}, fmt.Errorf("wait for process %d: %w", pid, err)
	}
	return exit, nil
}

// peekExit asks for the end of the child behind a pidfd without reaping it.
func peekExit(pidfd int) (exit Exit, ended bool, err error) {
	var info unix.Siginfo
	err = unix.Waitid(unix.P_PIDFD, pidfd, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
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
