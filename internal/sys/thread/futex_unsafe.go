//go:build linux && !portable

package thread

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexWait = 0 // shared between processes: no FUTEX_PRIVATE_FLAG
	futexWake = 1
)

// FutexWait sleeps while *word is val, for at most limit. It returns early for
// any reason, so the caller looks again; the word may lie in shared memory.
func FutexWait(word *atomic.Uint32, val uint32, limit time.Duration) {
	ts := unix.NsecToTimespec(int64(limit))
	// The word is passed as an address only for the length of the call, which
	// keeps it alive; the kernel reads it once, under its own lock.
	_, _, _ = syscall.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait,
		uintptr(val), uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// FutexWake wakes everybody who sleeps on word.
func FutexWake(word *atomic.Uint32) {
	const everybody = 1<<31 - 1
	_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, everybody, 0, 0, 0)
}
