//go:build linux && !portable

package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

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

// Set makes Wait return when Monotonic is at, in nanoseconds above 0, instead of when
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
func (a *Alarm) Close() { CloseFile(a.fd) }
