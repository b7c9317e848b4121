package transport

import (
	"sync/atomic"
)

// A Queue counts the operations that a rank has issued and not yet taken back, and
// knows those that have not ended. Package gaspi owns it and keeps its depth.
//
// An operation holds its entry until the next Wait, on every transport, also
// where it was finished at once. So a program that never waits is stopped by
// the same full queue on a laptop as on a cluster.
type Queue struct {
	depth uint64
	lane  uint32

	// issued counts entries taken, ever; settled those given back. Both only
	// grow. issued is changed by posters with a compare-and-swap that fails when
	// the queue is full, so no entry is ever taken and then returned.
	issued  atomic.Uint64
	settled atomic.Uint64

	underway
}

// NewQueue makes a queue of depth entries. Links that have several ways to a peer
// let the operations of queues with different lanes not wait for each other.
func NewQueue(depth, lane int) *Queue { return &Queue{depth: uint64(depth), lane: uint32(lane)} }

// Lane is the number given to NewQueue.
func (q *Queue) Lane() uint32 { return q.lane }

// Take takes n entries, all or none, and reports whether there was room.
func (q *Queue) Take(n uint64) bool {
	for {
		settled := q.settled.Load() // first, so that issued is never behind it
		issued := q.issued.Load()
		if used := issued - settled; used > q.depth || n > q.depth-used {
			// Full, if both counts are of one moment; else look again.
			if q.settled.Load() == settled {
				return false
			}
			continue
		}
		if q.issued.CompareAndSwap(issued, issued+n) {
			return true
		}
	}
}

// Issued is how many entries were ever taken.
func (q *Queue) Issued() uint64 { return q.issued.Load() }

// Size is how many entries are taken now.
func (q *Queue) Size() int {
	settled := q.settled.Load() // first: issued may only grow meanwhile
	return int(q.issued.Load() - settled)
}

// Settle gives back all entries that were taken when issued was upTo.
func (q *Queue) Settle(upTo uint64) {
	for {
		settled := q.settled.Load()
		if settled >= upTo || q.settled.CompareAndSwap(settled, upTo) {
			return
		}
	}
}
