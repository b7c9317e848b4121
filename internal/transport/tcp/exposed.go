package tcp

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A shelf holds the segments that this rank exposes.
type shelf struct {
	t     *Transport
	slots []atomic.Pointer[exposure] // index is the segment id; nil where nothing is exposed

	mu   sync.Mutex // held while a slot changes, and while a peer is told what is in it
	last uint64     // guarded by mu; generation given last
}

// An exposure is a segment that peers may reach, those that are granted it.
type exposure struct {
	id         segment.ID
	seg        *segment.Segment
	generation uint64
	data       []byte
	board      *notify.Board
	live       atomic.Uint64 // generation, 0 once withdrawn
	granted    []atomic.Bool // index is the rank
	asked      []atomic.Bool // index is the rank; has been told what the segment is like
}

func (s *shelf) init(t *Transport, ids int) {
	s.t = t
	s.slots = make([]atomic.Pointer[exposure], ids)
}

// find is what peer r means by a segment and generation, or nil if there is no
// such thing for it.
func (s *shelf) find(r base.Rank, id uint32, generation uint64) *exposure {
	if uint64(id) >= uint64(len(s.slots)) {
		return nil
	}
	x := s.slots[id].Load()
	if x == nil || x.generation != generation || !x.usable() || !x.granted[r].Load() {
		return nil
	}
	return x
}

func (x *exposure) usable() bool { return x.live.Load() == x.generation }

// memory is [offset, offset+n) of the segment, or false if it leaves it.
func (x *exposure) memory(offset, n uint64) ([]byte, bool) {
	if room := uint64(len(x.data)); offset > room || n > room-offset {
		return nil, false
	}
	return x.data[offset : offset+n : offset+n], true
}

// openOwn is how this rank reaches its own segments.
func (s *shelf) openOwn(id segment.ID) (*transport.Window, error) {
	x := s.slots[id].Load()
	if x == nil || !x.granted[s.t.cfg.Rank].Load() {
		return nil, noSegment(s.t.cfg.Rank, id, s.t.cfg.Rank)
	}
	return &transport.Window{Segment: x.seg, Live: &x.live, Generation: x.generation}, nil
}

func noSegment(owner base.Rank, id segment.ID, reader base.Rank) error {
	return fmt.Errorf("%w: rank %d has not registered a segment %d with rank %d", base.ErrNoSegment, owner, id, reader)
}

// at is the slot of id, which must be in use if used is set. The caller holds mu.
func (s *shelf) atLocked(id segment.ID, used bool) (*atomic.Pointer[exposure], error) {
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

func (s *shelf) expose(id segment.ID, seg *segment.Segment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, err := s.atLocked(id, false)
	if err != nil {
		return err
	}
	s.last++
	x := &exposure{
		id: id, seg: seg, generation: s.last, data: seg.All().Bytes(), board: seg.Board(),
		granted: make([]atomic.Bool, s.t.cfg.Size), asked: make([]atomic.Bool, s.t.cfg.Size),
	}
	x.live.Store(x.generation)
	slot.Store(x)
	return nil
}

func (s *shelf) grant(id segment.ID, r base.Rank) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, err := s.atLocked(id, true)
	if err != nil {
		return err
	}
	if r < 0 || int(r) >= s.t.cfg.Size {
		return fmt.Errorf("%w: %d", base.ErrBadRank, r)
	}
	slot.Load().granted[r].Store(true)
	return nil
}

func (s *shelf) withdraw(id segment.ID) error {
	x, err := s.take(id)
	if err != nil {
		return err
	}
	for i := range s.t.conns {
		if c := s.t.conns[i].Load(); c != nil {
			c.release(x)
		}
	}
	return nil
}

// take empties a slot and tells those who know what was in it. The message is on
// every connection, so that whatever is asked of this rank later is answered
// behind it.
func (s *shelf) take(id segment.ID) (*exposure, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, err := s.atLocked(id, true)
	if err != nil {
		return nil, err
	}
	x := slot.Load()
	x.live.Store(0)
	slot.Store(nil)
	for r := range x.asked {
		if x.asked[r].Load() {
			for lane := range s.t.cfg.Lanes {
				if c := s.t.conns[r*s.t.cfg.Lanes+lane].Load(); c != nil {
					c.tell(&frame{kind: kindWithdrawn, segment: uint32(id), generation: x.generation})
				}
			}
		}
	}
	return x, nil
}

// describe answers peer r's question what a segment is like. It holds mu until
// the answer is on its way, so that news of a withdrawal comes behind it.
func (s *shelf) describe(c *conn, f *frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if uint64(f.segment) < uint64(len(s.slots)) {
		if x := s.slots[f.segment].Load(); x != nil && x.granted[c.link.rank].Load() {
			x.asked[c.link.rank].Store(true)
			return c.reply(&frame{
				kind: kindAttached, number: f.number, segment: f.segment, generation: x.generation,
				offset: uint64(len(x.data)), a: uint64(x.board.Len()),
			})
		}
	}
	return c.reply(&frame{kind: kindRefused, code: uint8(refusedSegment), number: f.number, segment: f.segment})
}
