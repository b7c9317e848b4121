package rdma

import (
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A region is a segment that this rank exposes.
type region = remote.Region[registration]

// A registration is what this transport keeps with a region: its registered memory and
// its flags. All but waits is guarded by Transport.mu.
type registration struct {
	memory               *memoryRegion
	flagFirst, flagPages int
	waits                atomic.Int32 // ranks that hold the descriptor of the withdrawn region
}

// Expose implements transport.Transport. It registers the memory, which fails where the
// system does not let the process lock so much.
func (t *Transport) Expose(id segment.ID, s *segment.Segment) error {
	t.lock()
	defer t.unlock()
	if t.closed.Load() {
		return base.ErrClosed
	}
	return t.registry.Expose(id, s, func(x *region) error {
		memory, err := t.memory.ofLocked(s)
		if err != nil {
			return err
		}
		x.State.memory = memory
		memory.users++
		t.flags.take(x)
		return nil
	})
}

// Grant implements transport.Transport.
func (t *Transport) Grant(id segment.ID, r base.Rank) error { return t.registry.Grant(id, r) }

// Withdraw implements transport.Transport. It tells the peers that hold the descriptor
// and waits until none of them writes to the segment any more, since a network card
// checks nothing. It waits for at most withdrawMost: memory that a stopped peer has not
// released stays registered, and is not used for anything else (deferred deregistration).
func (t *Transport) Withdraw(id segment.ID) error {
	x, err := t.withdraw(id)
	if err != nil {
		return err
	}
	t.awaitFor(withdrawMost, func() bool { return x.State.waits.Load() == 0 })
	return nil
}

func (t *Transport) withdraw(id segment.ID) (*region, error) {
	t.lock()
	defer t.unlock()
	x, err := t.registry.Withdraw(id, t.announceWithdrawalLocked)
	if err != nil {
		return nil, err
	}
	t.memory.forgetLocked(x.Segment)
	if x.State.waits.Load() == 0 {
		t.deregisterLocked(x)
	} else {
		t.deferred = append(t.deferred, x)
	}
	return x, nil
}

// announceWithdrawalLocked tells the peers that hold the descriptor of x.
func (t *Transport) announceWithdrawalLocked(x *region) {
	for r := range x.Holders() {
		l := t.links.To(r)
		if l.peer.Err() != nil {
			x.Release(r)
			continue
		}
		x.State.waits.Add(1)
		l.sendControlLocked(message{kind: kindWithdrawn, segment: uint32(x.ID), generation: x.Generation})
	}
}

// handleReleasedLocked records that rank r does not use a withdrawn region any more;
// generation 0 means all of them.
func (t *Transport) handleReleasedLocked(r base.Rank, generation uint64) {
	rest := t.deferred[:0]
	for _, x := range t.deferred {
		if (generation == 0 || generation == x.Generation) && x.Release(r) && x.State.waits.Add(-1) == 0 {
			t.deregisterLocked(x)
			continue
		}
		rest = append(rest, x)
	}
	clear(t.deferred[len(rest):])
	t.deferred = rest
	t.array.WakeSleepers()
}

// deregisterLocked gives back the memory and the flags of a withdrawn region.
func (t *Transport) deregisterLocked(x *region) {
	t.flags.free(x)
	t.memory.leaveLocked(x.State.memory)
}
