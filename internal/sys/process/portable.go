//go:build !linux || portable

package process

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// Hold returns an error: no descriptor stands for a process.
func Hold(int) (int, error) { return -1, sys.OnlyLinux("descriptors of processes") }

// AwaitEnd reports false: Hold has returned no process.
func AwaitEnd(int, time.Duration) bool { return false }

// Supported returns an error: ranks cannot be processes on this system.
func Supported() error { return sys.OnlyLinux("starting ranks as processes") }

// An ExitWatch does not exist: a process cannot be waited for without reaping it.
type ExitWatch struct{}

// WatchExits returns an error.
func WatchExits() (*ExitWatch, error) { return nil, Supported() }

// Add returns an error.
func (*ExitWatch) Add(int) error { return Supported() }

// Wait returns an error.
func (*ExitWatch) Wait() ([]Ended, error) { return nil, Supported() }

// Close does nothing.
func (*ExitWatch) Close() {}

// StoppedBy returns 0: the system does not say.
func StoppedBy(int) unix.Signal { return 0 }

// AdoptOrphans returns an error: orphans are children of the system's first process.
func AdoptOrphans() error { return sys.OnlyLinux("adopting orphans") }

// Children returns nothing: the system does not list them.
func Children() []int { return nil }

// CreateProgramFile returns an error: memory cannot be executed as a file.
func CreateProgramFile(string) (int, error) { return -1, sys.OnlyLinux("program files in memory") }

// ReopenReadOnly returns an error, as CreateProgramFile does.
func ReopenReadOnly(int, int) (int, error) { return -1, sys.OnlyLinux("program files in memory") }

// DieWithParent does nothing: the system sends no such signal.
func DieWithParent(*syscall.SysProcAttr, syscall.Signal) {}

// OwnNetwork returns an error: there are no network namespaces.
func OwnNetwork(*syscall.SysProcAttr) error { return sys.OnlyLinux("network namespaces") }

// OwnHost returns an error: there are no namespaces.
func OwnHost(*syscall.SysProcAttr) error { return sys.OnlyLinux("namespaces") }

// EnterNetwork returns an error: there are no network namespaces.
func EnterNetwork(string) error { return sys.OnlyLinux("network namespaces") }

// MeasureProcessor returns an error.
func MeasureProcessor() (ProcessorUse, error) { return ProcessorUse{}, sys.OnlyLinux(schedFeature) }

// RunDelays returns an error.
func RunDelays(func(thread int, delay time.Duration)) error { return sys.OnlyLinux(schedFeature) }

const schedFeature = "the times of threads"
