//go:build race

package segment

import "github.com/gaspi-go/gaspi-go/notify"

// Reserve is New in memory of the system in place of the heap: what is never written takes none, the
// garbage collector, which takes its time from the size of the heap, does not count it, and Close
// gives its pages back though the Segment is still reachable. Under the race detector, which sees
// only orders by memory of the heap, it is New.
func Reserve(size uint64, notifications uint32, wait *notify.WaitPolicy) (*Segment, error) {
	return New(size, notifications, wait)
}
