package remote

import (
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A Registry is the registration table of one rank: the segments that it exposes, by
// id. T is the type of the data that the transport keeps with each of them. All
// methods but Init are safe for concurrent use. Find and At take no lock.
type Registry[T any] struct {
	owner base.Rank
	size  int                         // ranks of the job
	slots []atomic.Pointer[Region[T]] // index is the segment id; nil where nothing is exposed

	mu   sync.Mutex // held while a slot changes, and while a descriptor is sent
	last uint64     // guarded by mu; generation of the latest region
}

// A Region is an exposed segment. Peers that were granted access can reach it.
type Region[T any] struct {
	ID            segment.ID
	Segment       *segment.Segment
	Generation    uint64 // unique among the regions of this rank
	Data          []byte // memory of Segment
	Notifications *notify.Array
	State         T // belongs to the transport

	live    atomic.Uint64 // Generation; 0 once withdrawn
	granted rankSet
	holds   rankSet // peers that have the descriptor, and have not released it
}

// Init makes g the empty table of rank owner in a job of size ranks, for segment ids
// from 0 to ids-1.
func (g *Registry[T]) Init(owner base.Rank, size, ids int) {
	g.owner, g.size = owner, size
	g.slots = make([]atomic.Pointer[Region[T]], ids)
}

// At returns the region exposed under id, or nil.
func (g *Registry[T]) At(id segment.ID) *Region[T] {
	if uint64(id) >= uint64(len(g.slots)) {
		return nil
	}
	return g.slots[id].Load()
}

// Find returns the region that rank r addresses by id and generation. It returns nil
// if that region was withdrawn or r has no access.
func (g *Registry[T]) Find(r base.Rank, id uint32, generation uint64) *Region[T] {
	if uint64(id) >= uint64(len(g.slots)) {
		return nil
	}
	x := g.slots[id].Load()
	if x == nil || x.Generation != generation || !x.Usable() || !x.granted.has(r) {
		return nil
	}
	return x
}

// Window returns a window on the region under id for rank r, a rank of this process. The
// error wraps base.ErrNoSegment if there is no region or r has no access.
func (g *Registry[T]) Window(id segment.ID, r base.Rank) (*transport.Window, error) {
	x := g.At(id)
	if x == nil || !x.granted.has(r) {
		return nil, NotRegistered(g.owner, id, r)
	}
	return &transport.Window{Segment: x.Segment, Live: &x.live, Generation: x.Generation}, nil
}

// OwnWindow is Window for the owner of the table, as transport.NewDirect takes it.
func (g *Registry[T]) OwnWindow(id segment.ID) (*transport.Window, error) {
	return g.Window(id, g.owner)
}

// slotLocked returns the slot of id. It fails unless the slot is in use (used), or
// free (!used).
func (g *Registry[T]) slotLocked(id segment.ID, used bool) (*atomic.Pointer[Region[T]], error) {
	if uint64(id) >= uint64(len(g.slots)) {
		return nil, badID(id, len(g.slots))
	}
	slot := &g.slots[id]
	if used && slot.Load() == nil {
		return nil, fmt.Errorf("%w: id %d", base.ErrNoSegment, id)
	}
	if !used && slot.Load() != nil {
		return nil, fmt.Errorf("segment %d is in use", id)
	}
	return slot, nil
}

func badID(id segment.ID, ids int) error {
	return fmt.Errorf("%w: id %d; ids go from 0 to %d", base.ErrNoSegment, id, ids-1)
}

// Expose adds s to the table under id, without access for anybody. setup, if not nil,
// completes the region before peers can find it. If setup fails, s is not exposed.
func (g *Registry[T]) Expose(id segment.ID, s *segment.Segment, setup func(*Region[T]) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	slot, err := g.slotLocked(id, false)
	if err != nil {
		return err
	}
	x := &Region[T]{
		ID: id, Segment: s, Generation: g.last + 1, Data: s.All().Bytes(), Notifications: s.Notifications(),
		granted: newRankSet(g.size), holds: newRankSet(g.size),
	}
	if setup != nil {
		if err := setup(x); err != nil {
			return err
		}
	}
	g.last++
	x.live.Store(x.Generation)
	slot.Store(x)
	return nil
}

// Grant gives rank r access to the region under id.
func (g *Registry[T]) Grant(id segment.ID, r base.Rank) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	slot, err := g.slotLocked(id, true)
	if err != nil {
		return err
	}
	if r < 0 || int(r) >= g.size {
		return fmt.Errorf("%w: %d", base.ErrBadRank, r)
	}
	slot.Load().granted.add(r)
	return nil
}

// Attach calls reply with the region under id and records that rank r has its
// descriptor. reply gets nil if r has no access. The table is locked until reply
// returns, so that the announcement of a withdrawal follows the descriptor. Attach
// returns the error of reply.
func (g *Registry[T]) Attach(r base.Rank, id uint32, reply func(*Region[T]) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	var x *Region[T]
	if uint64(id) < uint64(len(g.slots)) {
		x = g.slots[id].Load()
	}
	if x == nil || !x.granted.has(r) {
		return reply(nil)
	}
	x.holds.add(r)
	return reply(x)
}

// Withdraw takes the region under id out of the table and returns it. announce, if
// not nil, is called with the table locked: it tells the holders.
func (g *Registry[T]) Withdraw(id segment.ID, announce func(*Region[T])) (*Region[T], error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	slot, err := g.slotLocked(id, true)
	if err != nil {
		return nil, err
	}
	x := slot.Load()
	x.live.Store(0)
	slot.Store(nil)
	if announce != nil {
		announce(x)
	}
	return x, nil
}

// Usable reports whether the region has not been withdrawn.
func (x *Region[T]) Usable() bool { return x.live.Load() == x.Generation }

// Memory returns the bytes [offset, offset+n) of the region. It returns false if they
// leave it.
func (x *Region[T]) Memory(offset, n uint64) ([]byte, bool) {
	if room := uint64(len(x.Data)); offset > room || n > room-offset {
		return nil, false
	}
	return x.Data[offset : offset+n : offset+n], true
}

// Holders yields the ranks that have the descriptor of the region.
func (x *Region[T]) Holders() iter.Seq[base.Rank] {
	return func(yield func(base.Rank) bool) {
		for r := range base.Rank(len(x.holds) * bitsOfWord) {
			if x.holds.has(r) && !yield(r) {
				return
			}
		}
	}
}

// Release records that rank r has dropped the descriptor. It reports whether r had it.
func (x *Region[T]) Release(r base.Rank) bool { return x.holds.remove(r) }
