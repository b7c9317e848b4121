//go:build linux && !portable

package sys

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sleepSlack is by how many nanoseconds the system may let a sleeping thread sleep
// longer to wake several at once; it is 50 us unless a thread says otherwise.
const sleepSlack = 1000

// Sleep stops the calling thread for d, exactly to some microseconds. time.Sleep of an
// idle process is exact to a millisecond. It holds a thread meanwhile, so it is for
// measurements of a few goroutines.
func Sleep(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, sleepSlack, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl timer slack: %w", err)
	}
	left := unix.NsecToTimespec(int64(d))
	for {
		err := unix.Nanosleep(&left, &left)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("nanosleep: %w", err)
		}
	}
}
