package transport

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
	"github.com/gaspi-go/gaspi-go/notify"
)

// A Queue counts the operations that a rank has issued and not yet taken back, and
// knows those that have not ended. Package gaspi owns it and keeps its depth.
//
// An operation holds its entry until the next Wait, on every transport, also
// where it was finished at once. So a program that never waits is stopped by
// the same full queue on a laptop as on a cluster.
type Queue struct {
	depth      uint64
	lane       uint32
	serialized bool

	// issued counts entries taken, ever; settled those given back. Both only
	// grow. issued is changed by posters with a compare-and-swap that fails when
	// the queue is full, so no entry is ever taken and then returned. Posters of a
	// serialized queue store it.
	issued  atomic.Uint64
	settled atomic.Uint64

	underway
}

// NewQueue makes a queue of depth entries. Links that have several ways to a peer
// let the operations of queues with different lanes not wait for each other.
func NewQueue(depth, lane int) *Queue { return &Queue{depth: uint64(depth), lane: uint32(lane)} }

// Serialize says that goroutines take entries one at a time, before the first does.
func (q *Queue) Serialize() { q.serialized = true }

// Serialized reports whether goroutines take entries one at a time.
func (q *Queue) Serialized() bool { return q.serialized }

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
		if q.serialized {
			cpu.StoreRelease64(&q.issued, issued+n)
			return true
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

// An Op is an operation that had not ended when the call that issued it returned.
// It is part of what a link remembers of the operation, which is how the queue's
// list of them costs no memory of its own. The zero Op is ready, and so is one
// that has ended.
type Op struct {
	prev, next *Op
	number     uint64 // in the order of Begin, from 1
}

// underway are the operations of a queue that have not ended, in the order in
// which they began. They end in any order: of several peers, or of several
// connections. An operation that ends within its call is never here and costs nothing.
type underway struct {
	open   atomic.Int64 // how many; may be a little late for others than Begin and End
	failed atomic.Pointer[failure]
	array  atomic.Pointer[notify.Array] // what waiters sleep on; nil until one waits

	mu          sync.Mutex
	first, last *Op    // guarded by mu
	begun       uint64 // guarded by mu
	dropped     uint64 // guarded by mu; number of the last operation whose failure is not told
}

type failure struct{ err error }

// Begin says that op is under way: the link calls End when it has ended. op must
// not be under way already.
func (u *underway) Begin(op *Op) {
	u.open.Add(1)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.begun++
	op.number, op.prev, op.next = u.begun, u.last, nil
	if u.last == nil {
		u.first = op
	} else {
		u.last.next = op
	}
	u.last = op
}

// End says that op has ended: its memory is the caller's again. err is why it
// failed, or nil; Failure returns the first one. It does not block.
func (u *underway) End(op *Op, err error) {
	u.mu.Lock()
	if err != nil && op.number > u.dropped {
		u.Fail(err)
	}
	if op.prev == nil {
		u.first = op.next
	} else {
		op.prev.next = op.next
	}
	if op.next == nil {
		u.last = op.prev
	} else {
		op.next.prev = op.prev
	}
	op.prev, op.next = nil, nil
	u.mu.Unlock()
	u.open.Add(-1) // sequentially consistent: before the look for sleepers
	if b := u.array.Load(); b != nil {
		b.WakeSleepers()
	}
}

// Fail makes the next Failure err, unless there is one already: for an operation
// that had ended here before its peer refused it.
func (u *underway) Fail(err error) { u.failed.CompareAndSwap(nil, &failure{err}) }

// Drop makes Failure tell nothing of the operations that have begun before, under way or not. A Fail
// that comes later is told all the same.
func (u *underway) Drop() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.dropped = u.begun
	u.failed.Store(nil)
}

// Forget takes err back, which Fail was given, because the caller is about to
// report it. It returns false if Failure has returned one since: then err is no
// news.
func (u *underway) Forget(err error) bool {
	f := u.failed.Load()
	if f != nil && f.err == err {
		return u.failed.CompareAndSwap(f, nil)
	}
	return f != nil
}

// Idle reports whether everything has ended and nothing has failed. It is one
// look: what others issue meanwhile may be missing.
func (u *underway) Idle() bool { return u.open.Load() == 0 && u.failed.Load() == nil }

// HasFailed reports whether something has failed that Failure has not told of.
func (u *underway) HasFailed() bool { return u.failed.Load() != nil }

// Wait blocks until every operation that began before the call has ended, well or
// badly. It ends early with the error of ctx or of stop, as waits for notifications
// do. w says how the process waits, the same for all calls.
func (u *underway) Wait(ctx context.Context, w *notify.WaitPolicy, stop func() error) error {
	if u.open.Load() == 0 {
		return nil
	}
	u.mu.Lock()
	mark := u.begun
	u.mu.Unlock()
	return u.sleepers(w).WaitFunc(ctx, func() bool { return u.endedThrough(mark) }, stop, nil)
}

// Failure is why the first operation since the last call failed that did, or nil.
func (u *underway) Failure() error {
	if u.failed.Load() == nil {
		return nil
	}
	if f := u.failed.Swap(nil); f != nil {
		return f.err
	}
	return nil
}

// endedThrough reports whether the operations with numbers up to mark have ended.
func (u *underway) endedThrough(mark uint64) bool {
	if u.open.Load() == 0 {
		return true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.first == nil || u.first.number > mark
}

// sleepers is the array that waiters sleep on. It has no notification that anybody
// posts: its wake word is what counts.
func (u *underway) sleepers(w *notify.WaitPolicy) *notify.Array {
	if b := u.array.Load(); b != nil {
		return b
	}
	u.array.CompareAndSwap(nil, notify.NewArray(make([]byte, notify.Bytes(1)), 1, w))
	return u.array.Load()
}
