//go:build linux && !portable

package process

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// MeasureProcessor returns the processor time that this process has used, and how often its threads
// gave up a processor, or had to.
func MeasureProcessor() (ProcessorUse, error) {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return ProcessorUse{}, os.NewSyscallError("getrusage", err)
	}
	return ProcessorUse{
		CPU: time.Duration(r.Utime.Nano() + r.Stime.Nano()), Voluntary: uint64(r.Nvcsw), Involuntary: uint64(r.Nivcsw),
	}, nil
}

// RunDelays calls see for each thread of this process, with the time for which it could have run but
// had no processor, since its beginning.
func RunDelays(see func(thread int, delay time.Duration)) error {
	const tasks = "/proc/self/task"
	list, err := os.ReadDir(tasks)
	if err != nil {
		return err
	}
	for _, entry := range list {
		thread, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile(tasks + "/" + entry.Name() + "/schedstat")
		if os.IsNotExist(err) && len(list) > 1 {
			continue // it has ended, unless no thread has such a file
		}
		if err != nil {
			return err
		}
		var ran, delay, slices int64
		if _, err := fmt.Sscan(string(text), &ran, &delay, &slices); err != nil {
			return fmt.Errorf("schedstat of a thread, %q: %w", text, err)
		}
		see(thread, time.Duration(delay))
	}
	return nil
}
