//go:build linux && !portable

package thread

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Cores returns the cores that the calling thread may run on, ascending.
// The caller holds the thread with runtime.LockOSThread if that matters.
func Cores() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("sched_getaffinity: %w", err)
	}
	var cores []int
	for core := 0; len(cores) < set.Count(); core++ {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores, nil
}

// SetCores makes the calling thread run on these cores only. A process
// that the thread starts inherits it, with all the threads it will ever have.
func SetCores(cores []int) error {
	var set unix.CPUSet
	for _, core := range cores {
		set.Set(core)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("sched_setaffinity to cores %v: %w", cores, err)
	}
	return nil
}
