package rdma

import (
	"fmt"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A shelf holds the segments that this rank exposes. Slots change under
// Transport.mu.
type shelf struct {
	slots []atomic.Pointer[exposure] // index is the segment id; nil where nothing is exposed
	last  uint64                     // generation given last
	flags flagSpace
	limbo []*exposure // withdrawn, and still in use by peers
}

// An exposure is a segment that peers may reach, those that are granted it. Fields
// that are no atomics are guarded by Transport.mu.
type exposure struct {
	id         segment.ID
	seg        *segment.Segment
	region     *region
	generation uint64
	board      *notify.Board
	live       atomic.Uint64 // generation, 0 once withdrawn
	granted    []bool        // index is the rank
	holds      []bool        // index is the rank; knows the segment, and has not released it
	holders    atomic.Int32  // of a withdrawn segment: how many hold it

	flagFirst, flagPages int
}

func (x *exposure) usable() bool { return x.live.Load() == x.generation }

// findLocked is what peer r means by a segment and generation, or nil if there is no
// such thing for it.
func (s *shelf) findLocked(r base.Rank, id uint32, generation uint64) *exposure {
	if uint64(id) >= uint64(len(s.slots)) {
		return nil
	}
	x := s.slots[id].Load()
	if x == nil || x.generation != generation || !x.granted[r] {
		return nil
	}
	return x
}

// openOwn is how this rank reaches its own segments.
func (t *Transport) openOwn(id segment.ID) (*transport.Window, error) {
	t.lock()
	defer t.unlock()
	x := t.shelf.slots[id].Load()
	if x == nil || !x.granted[t.cfg.Rank] {
		return nil, noSegment(t.cfg.Rank, id, t.cfg.Rank)
	}
	return &transport.Window{Segment: x.seg, Live: &x.live, Generation: x.generation}, nil
}

func noSegment(owner base.Rank, id segment.ID, reader base.Rank) error {
	return fmt.Errorf("%w: rank %d has not registered a segment %d with rank %d", base.ErrNoSegment, owner, id, reader)
}

// slotLocked is the slot of id, which must be in use if used is set.
func (s *shelf) slotLocked(id segment.ID, used bool) (*atomic.Pointer[exposure], error) {
	if uint64(id) >= uint64(len(s.slots)) {
		return nil, fmt.Errorf("%w: id %d; ids go from 0 to %d", base.ErrNoSegment, id, len(s.slots)-1)
	}
	slot := &s.slots[id]
	if used && slot.Load() == nil {
		return nil, fmt.Errorf("%w: id %d", base.ErrNoSegment, id)
	}
	if !used && slot.Load() != nil {
		return nil, fmt.Errorf("segment %d is in use", id)
	}
	return slot, nil
}

// Expose implements transport.Transport. It registers the memory, which fails where
// the system does not let the process lock so much.
func (t *Transport) Expose(id segment.ID, s *segment.Segment) error {
	t.lock()
	defer t.unlock()
	if t.closed.Load() {
		return base.ErrClosed
	}
	slot, err := t.shelf.slotLocked(id, false)
	if err != nil {
		return err
	}
	r, err := t.regions.ofLocked(s)
	if err != nil {
		return err
	}
	t.shelf.last++
	x := &exposure{
		id: id, seg: s, region: r, generation: t.shelf.last, board: s.Board(),
		granted: make([]bool, t.cfg.Size), holds: make([]bool, t.cfg.Size),
	}
	r.users++
	x.live.Store(x.generation)
	t.shelf.flags.take(x)
	slot.Store(x)
	return nil
}

// Grant implements transport.Transport.
func (t *Transport) Grant(id segment.ID, r base.Rank) error {
	t.lock()
	defer t.unlock()
	slot, err := t.shelf.slotLocked(id, true)
	if err != nil {
		return err
	}
	if r < 0 || int(r) >= t.cfg.Size {
		return fmt.Errorf("%w: %d", base.ErrBadRank, r)
	}
	slot.Load().granted[r] = true
	return nil
}

// Withdraw implements transport.Transport. It tells those who know the segment and
// waits until none of them writes to it any more, since a network card would not ask
// before it does. It does not wait for long: memory that a peer which is stopped has
// not released stays registered, and is nobody else's.
func (t *Transport) Withdraw(id segment.ID) error {
	x, err := t.withdraw(id)
	if err != nil {
		return err
	}
	t.awaitFor(withdrawMost, func() bool { return x.holders.Load() == 0 })
	return nil
}

func (t *Transport) withdraw(id segment.ID) (*exposure, error) {
	t.lock()
	defer t.unlock()
	slot, err := t.shelf.slotLocked(id, true)
	if err != nil {
		return nil, err
	}
	x := slot.Load()
	x.live.Store(0)
	slot.Store(nil)
	t.regions.forgetLocked(x.seg)
	for r := range x.holds {
		if !x.holds[r] {
			continue
		}
		l := t.link(base.Rank(r))
		if l.lost.Load() != nil || t.closed.Load() {
			x.holds[r] = false
			continue
		}
		x.holders.Add(1)
		l.tellLocked(message{kind: kindWithdrawn, segment: uint32(id), generation: x.generation})
	}
	if x.holders.Load() == 0 {
		t.buryLocked(x)
	} else {
		t.shelf.limbo = append(t.shelf.limbo, x)
	}
	return x, nil
}

// releasedLocked takes note that rank r does not use a withdrawn segment any more;
// generation 0 means all of them.
func (t *Transport) releasedLocked(r base.Rank, generation uint64) {
	rest := t.shelf.limbo[:0]
	for _, x := range t.shelf.limbo {
		if x.holds[r] && (generation == 0 || generation == x.generation) {
			x.holds[r] = false
			if x.holders.Add(-1) == 0 {
				t.buryLocked(x)
				continue
			}
		}
		rest = append(rest, x)
	}
	clear(t.shelf.limbo[len(rest):])
	t.shelf.limbo = rest
	t.board.Rouse()
}

// buryLocked gives back what a withdrawn segment had.
func (t *Transport) buryLocked(x *exposure) {
	t.shelf.flags.free(x)
	t.regions.leaveLocked(x.region)
}
