//go:build linux && !portable

package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Monotonic is the system's monotonic clock in nanoseconds, which is the same for
// all processes.
func Monotonic() (int64, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0, fmt.Errorf("clock_gettime: %w", err)
	}
	return ts.Nano(), nil
}

// punctualPriority is above no other real-time thread that matters.
const punctualPriority = 1

// PunctualThread makes the calling thread wake up when it asked for, as exactly as
// the system can: timers are not gathered, and where that is permitted the thread
// goes before all others of a core, which it returns. It is for threads that work for
// microseconds and then sleep. The caller holds the thread with runtime.LockOSThread
// and never gives it back.
func PunctualThread() (before bool, err error) {
	const nanosecond = 1
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, nanosecond, 0, 0, 0); err != nil {
		return false, fmt.Errorf("prctl timer slack: %w", err)
	}
	// Threads that it starts must not inherit the priority.
	err = unix.SchedSetAttr(0, &unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: punctualPriority,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK,
	}, 0)
	return err == nil, nil
}
