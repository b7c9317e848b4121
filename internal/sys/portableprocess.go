//go:build !linux || portable

package sys

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// HoldProcess returns an error: no descriptor stands for a process.
func HoldProcess(int) (int, error) { return -1, onlyLinux("descriptors of processes") }

// AwaitProcessEnd reports false: HoldProcess has returned no process.
func AwaitProcessEnd(int, time.Duration) bool { return false }

// ProcessRanks returns an error: ranks cannot be processes on this system.
func ProcessRanks() error { return onlyLinux("starting ranks as processes") }

// Pipe returns the two ends of a pipe, which block and are closed on exec.
func Pipe() (read, write int, err error) {
	syscall.ForkLock.RLock() // no process may start between the two calls
	defer syscall.ForkLock.RUnlock()
	var fds [2]int
	if err := unix.Pipe(fds[:]); err != nil {
		return -1, -1, os.NewSyscallError("pipe", err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	return fds[0], fds[1], nil
}

// An ExitWatch does not exist: a process cannot be waited for without reaping it.
type ExitWatch struct{}

// WatchExits returns an error.
func WatchExits() (*ExitWatch, error) { return nil, ProcessRanks() }

// Add returns an error.
func (*ExitWatch) Add(int) error { return ProcessRanks() }

// Wait returns an error.
func (*ExitWatch) Wait() ([]Ended, error) { return nil, ProcessRanks() }

// Close does nothing.
func (*ExitWatch) Close() {}

// StoppedBy returns 0: the system does not say.
func StoppedBy(int) unix.Signal { return 0 }

// AdoptOrphans returns an error: orphans are children of the system's first process.
func AdoptOrphans() error { return onlyLinux("adopting orphans") }

// Children returns nothing: the system does not list them.
func Children() []int { return nil }

// CreateProgramFile returns an error: memory cannot be executed as a file.
func CreateProgramFile(string) (int, error) { return -1, onlyLinux("program files in memory") }

// ReopenReadOnly returns an error, as CreateProgramFile does.
func ReopenReadOnly(int, int) (int, error) { return -1, onlyLinux("program files in memory") }

// DieWithParent does nothing: the system sends no such signal.
func DieWithParent(*syscall.SysProcAttr, syscall.Signal) {}

// OwnNetwork returns an error: there are no network namespaces.
func OwnNetwork(*syscall.SysProcAttr) error { return onlyLinux("network namespaces") }

// OwnHost returns an error: there are no namespaces.
func OwnHost(*syscall.SysProcAttr) error { return onlyLinux("namespaces") }

// EnterNetwork returns an error: there are no network namespaces.
func EnterNetwork(string) error { return onlyLinux("network namespaces") }

// MeasureProcessor returns an error.
func MeasureProcessor() (ProcessorUse, error) { return ProcessorUse{}, onlyLinux(schedFeature) }

// RunDelays returns an error.
func RunDelays(func(thread int, delay time.Duration)) error { return onlyLinux(schedFeature) }

const schedFeature = "the times of threads"
