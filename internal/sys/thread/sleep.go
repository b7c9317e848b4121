//go:build linux && !portable

package thread

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	sleepSlack    = time.Microsecond
	punctualSlack = time.Nanosecond // none
)

// TimerSlack returns by how much the system may let the calling thread sleep longer, to wake several at once: 50 us
// unless somebody has said otherwise. The caller holds the thread with runtime.LockOSThread.
func TimerSlack() (time.Duration, error) {
	ns, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return 0, fmt.Errorf("prctl timer slack: %w", err)
	}
	return time.Duration(ns), nil
}

// SetTimerSlack sets what TimerSlack returns, which is above 0. A process that the thread starts inherits it, with all
// the threads it will ever have.
func SetTimerSlack(slack time.Duration) error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0); err != nil {
		return fmt.Errorf("prctl timer slack: %w", err)
	}
	return nil
}

// Sleep stops the calling thread for d, exactly to some microseconds. time.Sleep of an
// idle process is exact to a millisecond. It holds a thread meanwhile, so it is for
// measurements of a few goroutines.
func Sleep(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := SetTimerSlack(sleepSlack); err != nil {
		return err
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

// An Alarm is something that a thread sleeps on until a time that others set, without
// waking it for that.
type Alarm struct {
	fd    int
	times [8]byte // how often it went off, of no interest
}

// NewAlarm makes an alarm that is not set.
func NewAlarm() (*Alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("timerfd_create: %w", err)
	}
	return &Alarm{fd: fd}, nil
}

// Set makes Wait return when sys.Monotonic is at, in nanoseconds above 0, instead of when
// it was set to before.
func (a *Alarm) Set(at int64) error {
	err := unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &unix.ItimerSpec{Value: unix.NsecToTimespec(at)}, nil)
	if err != nil {
		return fmt.Errorf("timerfd_settime: %w", err)
	}
	return nil
}

// Wait sleeps until the alarm goes off, or returns early for any reason. Each time
// that was set wakes it once. One thread at a time calls it.
func (a *Alarm) Wait() { _, _ = unix.Read(a.fd, a.times[:]) }

// Close gives the alarm back. Nobody waits for it any more.
func (a *Alarm) Close() { unix.Close(a.fd) }

// punctualPriority is above no other real-time thread that matters.
const punctualPriority = 1

// SetPunctual makes the calling thread wake up when it asked for, as exactly as
// the system can: timers are not gathered, and where that is permitted the thread
// goes before all others of a core, which it returns. In a program that a sanitizer watches
// it does not. It is for threads that work for microseconds and then sleep. The caller
// holds the thread with runtime.LockOSThread and never gives it back.
func SetPunctual() (before bool, err error) {
	if err := SetTimerSlack(punctualSlack); err != nil {
		return false, err
	}
	if !priorities {
		return false, nil
	}
	// Threads that it starts must not inherit the priority.
	err = unix.SchedSetAttr(0, &unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: punctualPriority,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK,
	}, 0)
	return err == nil, nil
}
