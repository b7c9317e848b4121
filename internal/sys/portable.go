//go:build !linux || portable

package sys

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// This file and its siblings portable*.go are for systems other than Linux, where ranks
// are goroutines of one process (gaspi.Local): memory that one process maps, and waits of
// goroutines on channels, need nothing special. A feature that only Linux has is an error that
// says so. With the build tag portable Linux takes these files too, for tests.

// onlyLinux is the error of a feature that other systems lack.
func onlyLinux(feature string) error {
	return fmt.Errorf("%s: %s/%s has none, only Linux: %w", feature, runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}

// ThreadCores returns the cores of the machine, since the system does not say which of
// them a thread may run on.
func ThreadCores() ([]int, error) {
	cores := make([]int, runtime.NumCPU())
	for i := range cores {
		cores[i] = i
	}
	return cores, nil
}

// SetThreadCores returns an error: there is no choice of cores.
func SetThreadCores([]int) error { return onlyLinux("binding threads to cores") }

// FutexWait returns after a moment, or after limit, and the caller looks again. Waits of
// goroutines do not come here.
func FutexWait(_ *atomic.Uint32, _ uint32, limit time.Duration) {
	time.Sleep(min(limit, 100*time.Microsecond)) // sleep: there is no futex, and the caller looks again
}

// FutexWake does nothing: no other process sleeps on a word of this one.
func FutexWake(*atomic.Uint32) {}

// Yield lets another goroutine run.
func Yield() { runtime.Gosched() }

// CreateMemory makes a file of size bytes that no path names, by removing its name, and
// returns its descriptor. It vanishes with its last descriptor and mapping.
func CreateMemory(name string, size int64) (fd int, err error) {
	f, err := os.CreateTemp("", "gaspi-*")
	if err != nil {
		return -1, fmt.Errorf("memory file %s: %w", name, err)
	}
	defer f.Close()
	if err := errors.Join(os.Remove(f.Name()), f.Truncate(size)); err != nil {
		return -1, fmt.Errorf("memory file of %d bytes: %w", size, err)
	}
	if fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return -1, fmt.Errorf("memory file %s: %w", name, err)
	}
	return fd, nil
}

// OpenPeerFile returns an error: memory of other processes cannot be reached.
func OpenPeerFile(int, int) (int, error) { return -1, onlyLinux("memory of other processes") }

// AdviseHuge does nothing.
func AdviseHuge([]byte) {}

// Discard writes zeros to the first size bytes of a memory file. Its pages go back to the
// system with the last mapping.
func Discard(fd int, size int64) error {
	zeros := make([]byte, min(size, 1<<20))
	for at := int64(0); at < size; {
		n, err := unix.Pwrite(fd, zeros[:min(size-at, int64(len(zeros)))], at)
		if err != nil {
			return fmt.Errorf("pwrite: %w", err)
		}
		at += int64(n)
	}
	return nil
}

// PunctualThread returns an error: threads have no such priority.
func PunctualThread() (before bool, err error) { return false, onlyLinux("punctual threads") }

// Sleep stops the calling goroutine for d.
func Sleep(d time.Duration) error {
	time.Sleep(d) // sleep: it is what the caller asks for
	return nil
}

// An Alarm is something that a thread sleeps on until a time that others set. There is
// none: NewAlarm returns an error.
type Alarm struct{}

// NewAlarm returns an error.
func NewAlarm() (*Alarm, error) { return nil, onlyLinux("timers of descriptors") }

// Set returns an error.
func (*Alarm) Set(int64) error { return onlyLinux("timers of descriptors") }

// Wait returns at once.
func (*Alarm) Wait() {}

// Close does nothing.
func (*Alarm) Close() {}
