package collectives

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives/internal/agreement"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// An arena is the memory and the notifications of a team's plans. All members
// claim and free in the same order, so that everything has the same place on all
// of them without a word being exchanged. Freed memory is used again only after it was
// recycled, which is collective: until then a slow member may still be reading it.
type arena struct {
	t       *Team
	control *gaspi.Segment // its array has all notifications of the team
	board   []gaspi.Remote // the control segment of each member, by number in the team
	slots   space
	slabs   []*slab // the first is the end of the control segment; claims go to the last
	total   uint64  // bytes of all slabs
	step    recycling
}

// A slab is scratch for plans.
type slab struct {
	seg   *gaspi.Segment
	space space
	plans int // that have memory in it
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

func (a *arena) open(ctx context.Context, t *Team) error {
	a.t = t
	lay := agreement.LayoutOf(len(t.ranks))
	first, slots := min(t.cfg.Scratch, firstSlab), lay.Notifications()
	seg, err := t.newSegment(ctx, lay.Size()+first, uint32(slots)+t.cfg.Slots, false)
	if err != nil {
		return err
	}
	a.control = seg
	for _, r := range t.ranks {
		a.board = append(a.board, seg.At(r, 0))
	}
	a.slots = space{from: slots, to: slots + uint64(t.cfg.Slots)}
	a.slabs = []*slab{{seg: seg, space: space{from: lay.Size(), to: seg.Size()}}}
	a.total = first
	t.mail = agreement.NewMailbox(lay, seg, t.ranks, t.me, poster{t})
	return nil
}

func (a *arena) close() error {
	var err error
	for _, s := range a.slabs {
		if derr := s.seg.Delete(); err == nil {
			err = derr
		}
	}
	return err
}

// A claim is what a plan has of the arena.
type claim struct {
	slot  uint32 // first notification
	slots uint32
	slab  *slab
	at    uint64 // byte in the slab
	size  uint64
}

// claim finds slots and bytes of scratch for a plan. It is collective when there
// are none left, and then blocks until all members need them. When ctx ends first, the
// same call again goes on.
func (a *arena) claim(ctx context.Context, slots int, size uint64) (claim, error) {
	if slots > int(a.t.cfg.Slots) {
		return claim{}, fmt.Errorf("%w: the operation needs %d notifications and Config.Slots is %d; raise it, or use fewer segments", gaspi.ErrTooMany, slots, a.t.cfg.Slots)
	}
	size = roundUp(size, 64)
	if a.step != untouched || !a.slots.fits(uint64(slots)) || !a.last().space.fits(size) && a.total+size > a.t.cfg.Scratch {
		if err := a.recycle(ctx); err != nil {
			return claim{}, err
		}
		if !a.slots.fits(uint64(slots)) {
			return claim{}, fmt.Errorf("%w: plans hold all but %d of %d notifications; close plans or raise Config.Slots",
				gaspi.ErrTooMany, a.slots.free(), a.t.cfg.Slots)
		}
	}
	if !a.last().space.fits(size) {
		if err := a.grow(ctx, size); err != nil {
			return claim{}, err
		}
	}
	slab := a.last()
	slab.plans++
	return claim{slot: uint32(a.slots.take(uint64(slots))), slots: uint32(slots), slab: slab, at: slab.space.take(size), size: size}, nil
}

// last is the slab that claims go to.
func (a *arena) last() *slab { return a.slabs[len(a.slabs)-1] }

// grow adds a slab with room for size bytes.
func (a *arena) grow(ctx context.Context, size uint64) error {
	size = max(roundUp(size, 4096), min(a.total, a.t.cfg.Scratch/4))
	seg, err := a.t.newSegment(ctx, size, 1, false)
	if err != nil {
		return err
	}
	a.add(seg)
	return nil
}

func (a *arena) add(seg *gaspi.Segment) {
	a.slabs = append(a.slabs, &slab{seg: seg, space: space{to: seg.Size()}})
	a.total += seg.Size()
}

// A recycling is how far the arena has come in giving up what single calls have of it.
type recycling int

const (
	untouched recycling = iota
	arrived             // all posts of all members have
	swept               // this member has given it up
	recycled            // all have
)

// recycle gives up the plans of single calls. All members have finished all calls.
func (a *arena) recycle(ctx context.Context) error {
	if a.step == untouched {
		if err := a.arrive(ctx); err != nil {
			return err
		}
		if err := a.meet(ctx); err != nil {
			return err
		}
		a.step = arrived
	}
	if a.step == arrived {
		for k, p := range a.t.plans {
			if !p.pinned {
				p.claim.slab.plans--
				delete(a.t.plans, k)
			}
		}
		a.t.last = nil
		a.sweep()
		a.step = swept
	}
	if a.step == swept {
		if err := a.meet(ctx); err != nil {
			return err
		}
		a.step = recycled
	}
	return nil
}

// meet blocks until all members have come as far.
func (a *arena) meet(ctx context.Context) error {
	heard, err := a.t.meet(ctx, meetFlush, 0)
	if err == nil {
		err = sameCall(heard, meetFlush)
	}
	if err != nil {
		return a.t.fail(err)
	}
	return nil
}

// sweep makes everything free that no plan holds. No member has an operation under way,
// and none begins one before all have swept.
func (a *arena) sweep() {
	a.slots.used = nil
	for _, s := range a.slabs {
		s.space.used, s.plans = nil, 0
	}
	for _, p := range a.t.plans {
		c := p.claim
		c.slab.plans++
		a.slots.hold(uint64(c.slot), uint64(c.slots))
		c.slab.space.hold(c.at, c.size)
	}
	a.slots.eachFree(func(from, to uint64) {
		for id := from; id < to; id++ {
			_, _ = a.control.Reset(gaspi.NotificationID(id)) // in range
		}
	})
	last := len(a.slabs) - 1
	a.slabs = slices.DeleteFunc(a.slabs, func(s *slab) bool {
		drop := s != a.slabs[0] && s != a.slabs[last] && s.plans == 0
		if drop {
			a.total -= s.seg.Size()
			_ = s.seg.Delete() // ours, and not deleted before
		}
		return drop
	})
}

// arrive waits until no post of this member can arrive at others any more.
func (a *arena) arrive(ctx context.Context) error {
	for _, r := range a.t.ranks {
		if err := a.t.queue.Flush(ctx, r); err != nil {
			return err
		}
	}
	return a.t.queue.Wait(ctx)
}

// clean takes all posts of operations that were given up off the array. None can arrive
// any more.
func (a *arena) clean() {
	a.step = untouched
	for id := range a.control.Notifications() {
		_, _ = a.control.Reset(gaspi.NotificationID(id)) // in range
	}
}

// A space is a range of numbers, parts of which are taken.
type space struct {
	from, to uint64
	used     []span // ascending, apart
}

type span struct{ from, to uint64 }

// gap is where n numbers in a row are free. The end comes first: before the first
// flush nothing is free elsewhere.
func (s *space) gap(n uint64) (at uint64, index int, ok bool) {
	end := s.from
	if k := len(s.used); k > 0 {
		end = s.used[k-1].to
	}
	if n <= s.to-end {
		return end, len(s.used), true
	}
	at = s.from
	for i, u := range s.used {
		if u.from-at >= n {
			return at, i, true
		}
		at = u.to
	}
	return 0, 0, false
}

func (s *space) fits(n uint64) bool {
	_, _, ok := s.gap(n)
	return ok
}

// take takes n numbers that fit.
func (s *space) take(n uint64) uint64 {
	at, i, ok := s.gap(n)
	if !ok {
		panic("collectives: a claim that does not fit")
	}
	s.used = slices.Insert(s.used, i, span{at, at + n})
	return at
}

// hold takes given numbers.
func (s *space) hold(at, n uint64) {
	i, _ := slices.BinarySearchFunc(s.used, at, func(u span, at uint64) int { return int(int64(u.from - at)) })
	s.used = slices.Insert(s.used, i, span{at, at + n})
}

func (s *space) free() uint64 {
	n := s.to - s.from
	for _, u := range s.used {
		n -= u.to - u.from
	}
	return n
}

func (s *space) eachFree(f func(from, to uint64)) {
	at := s.from
	for _, u := range s.used {
		f(at, u.from)
		at = u.to
	}
	f(at, s.to)
}
