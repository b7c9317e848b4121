//go:build !race

package segment

import (
	"runtime"

	"github.com/gaspi-go/gaspi-go/internal/sys/memory"
	"github.com/gaspi-go/gaspi-go/notify"
)

// Reserve is New in memory of the system in place of the heap: what is never written takes none, the
// garbage collector, which takes its time from the size of the heap, does not count it, and Close
// gives its pages back though the Segment is still reachable. Under the race detector, which sees
// only orders by memory of the heap, it is New.
func Reserve(size uint64, notifications uint32, wait *notify.WaitPolicy) (*Segment, error) {
	if err := checkSize(size); err != nil {
		return nil, err
	}
	at := dataOffset(notifications)
	mem, err := memory.MapZeros(int(at + size))
	if err != nil {
		return nil, err
	}
	s := &Segment{data: mem[at : at+size : at+size], array: notify.NewArray(mem, notifications, wait), fd: -1, bound: true, alone: true, mem: mem}
	runtime.AddCleanup(s, unmap, mem)
	return s, nil
}
