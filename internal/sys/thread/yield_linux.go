//go:build linux && !amd64 && !portable

package thread

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Yield lets another thread of this core run. It does not tell the Go scheduler.
func Yield() { _, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
