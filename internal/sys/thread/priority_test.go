//go:build linux && !portable

package thread

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Goal: no thread goes before others while a sanitizer watches, whose locks would keep their owner from the core.
func TestNoPriorityBesideASanitizer(t *testing.T) {
	type outcome struct {
		before bool
		policy uint32
		err    error
	}
	got := make(chan outcome)
	go func() {
		runtime.LockOSThread() // without UnlockOSThread, so that the thread ends with the goroutine
		before, err := SetPunctual()
		attr, failed := unix.SchedGetAttr(0, 0)
		if err == nil {
			err = failed
		}
		if err != nil {
			got <- outcome{err: err}
			return
		}
		got <- outcome{before: before, policy: attr.Policy}
	}()
	o := <-got
	if o.err != nil {
		t.Fatal(o.err)
	}
	if fifo := o.policy == unix.SCHED_FIFO; fifo != o.before || fifo && !priorities {
		t.Errorf("before others: %v; the policy of the thread is %d; priorities: %v", o.before, o.policy, priorities)
	}
}
