//go:build linux && !portable

package cpu

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Commands of membarrier.
const (
	membarrierGlobalExpedited         = 1 << 1
	membarrierRegisterGlobalExpedited = 1 << 2
)

// fenced registers this process once, and reports whether FenceAll works in it.
var fenced = sync.OnceValue(func() bool {
	return membarrier(membarrierRegisterGlobalExpedited) && membarrier(membarrierGlobalExpedited)
})

// CanFenceAll reports whether FenceAll of other processes reaches this one, and its own them. The
// first call registers the process with the system.
func CanFenceAll() bool { return fenced() }

// FenceAll executes a full memory barrier on every core that runs a thread of a process for which
// CanFenceAll returned true. It takes a microsecond or two, and interrupts those cores.
func FenceAll() { membarrier(membarrierGlobalExpedited) }

func membarrier(command uintptr) bool {
	_, _, errno := syscall.RawSyscall(unix.SYS_MEMBARRIER, command, 0, 0)
	return errno == 0
}
