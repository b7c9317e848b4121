//go:build !linux || portable

package thread

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// Cores returns the cores of the machine, since the system does not say which of
// them a thread may run on.
func Cores() ([]int, error) {
	cores := make([]int, runtime.NumCPU())
	for i := range cores {
		cores[i] = i
	}
	return cores, nil
}

// SetCores returns an error: there is no choice of cores.
func SetCores([]int) error { return sys.OnlyLinux("binding threads to cores") }

// FutexWait returns after a moment, or after limit, and the caller looks again. Waits of
// goroutines do not come here.
func FutexWait(_ *atomic.Uint32, _ uint32, limit time.Duration) {
	time.Sleep(min(limit, 100*time.Microsecond)) // sleep: there is no futex, and the caller looks again
}

// FutexWake does nothing: no other process sleeps on a word of this one.
func FutexWake(*atomic.Uint32) {}

// Yield lets another goroutine run.
func Yield() { runtime.Gosched() }

// SetPunctual returns an error: threads have no such priority.
func SetPunctual() (before bool, err error) { return false, sys.OnlyLinux("punctual threads") }

// TimerSlack returns an error: no thread has one.
func TimerSlack() (time.Duration, error) { return 0, sys.OnlyLinux("timer slack") }

// SetTimerSlack returns an error.
func SetTimerSlack(time.Duration) error { return sys.OnlyLinux("timer slack") }

// Sleep stops the calling goroutine for d.
func Sleep(d time.Duration) error {
	time.Sleep(d) // sleep: it is what the caller asks for
	return nil
}

// An Alarm is something that a thread sleeps on until a time that others set. There is
// none: NewAlarm returns an error.
type Alarm struct{}

// NewAlarm returns an error.
func NewAlarm() (*Alarm, error) { return nil, sys.OnlyLinux("timers of descriptors") }

// Set returns an error.
func (*Alarm) Set(int64) error { return sys.OnlyLinux("timers of descriptors") }

// Wait returns at once.
func (*Alarm) Wait() {}

// Close does nothing.
func (*Alarm) Close() {}
