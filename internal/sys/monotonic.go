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
