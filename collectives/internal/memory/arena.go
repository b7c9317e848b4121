package memory

import (
	"fmt"
	"iter"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// An Arena is the memory and the notifications of a team's plans.
type Arena struct {
	control *gaspi.Segment // its array has all notifications of the team
	limits  Limits
	slots   space
	slabs   []*slab // the first is the end of the control segment; claims go to the last
	total   uint64  // bytes of all slabs
}

// Limits are the bounds of an Arena.
type Limits struct {
	Scratch uint64 // bytes beyond which what was released is swept before more memory is added
	Slots   uint32 // notifications of all plans
}

// A slab is scratch for plans.
type slab struct {
	seg   *gaspi.Segment
	space space
	plans int // that have memory in it
}

// New returns an arena of the notifications of control from slot on, as many as limits say, and
// of its data from byte at on. It owns control.
func New(control *gaspi.Segment, at, slot uint64, limits Limits) *Arena {
	return &Arena{
		control: control, limits: limits, slots: space{from: slot, to: slot + uint64(limits.Slots)},
		slabs: []*slab{{seg: control, space: space{from: at, to: control.Size()}}}, total: control.Size() - at,
	}
}

// Close deletes all segments of the arena.
func (a *Arena) Close() error {
	var err error
	for _, s := range a.slabs {
		if derr := s.seg.Delete(); err == nil {
			err = derr
		}
	}
	return err
}

// Add gives the arena a segment, which it owns from then on, for all further claims.
func (a *Arena) Add(seg *gaspi.Segment) {
	a.slabs = append(a.slabs, &slab{seg: seg, space: space{to: seg.Size()}})
	a.total += seg.Size()
}

// last is the slab that claims go to.
func (a *Arena) last() *slab { return a.slabs[len(a.slabs)-1] }

// A Claim is the memory of a plan.
type Claim struct {
	slot, slots uint32
	slab        *slab // nil if it was released
	at, size    uint64
}

// Held reports whether the claim was made and not released.
func (c *Claim) Held() bool { return c.slab != nil }

// Slot returns the first notification.
func (c *Claim) Slot() uint32 { return c.slot }

// Scratch returns the segment of the scratch, and its first byte there.
func (c *Claim) Scratch() (seg *gaspi.Segment, at uint64) { return c.slab.seg, c.at }

// Release gives a claim up that is held. Its place is free after the next Sweep.
func (c *Claim) Release() {
	c.slab.plans--
	c.slab = nil
}

// A Bid is what a plan needs, and where it would lie in the arena as that is now. Members whose
// bids are equal have made like claims before.
type Bid struct {
	slots     int
	size      uint64 // bytes
	slot, at  uint64
	slabs     int
	total     uint64 // bytes of all slabs
	available bool
}

// Bid returns the bid for so many notifications and bytes.
func (a *Arena) Bid(slots int, size uint64) Bid {
	b := Bid{slots: slots, size: RoundUp(size, 64), slabs: len(a.slabs), total: a.total}
	var slotted, placed bool
	b.slot, _, slotted = a.slots.gap(uint64(slots))
	b.at, _, placed = a.last().space.gap(b.size)
	b.available = slotted && placed
	return b
}

// Available reports whether the arena had room when the bid was made.
func (b *Bid) Available() bool { return b.available }

// Check returns why no arena with these limits has the notifications of b, or nil.
func (a *Arena) Check(b *Bid) error {
	if b.slots > int(a.limits.Slots) {
		return fmt.Errorf("%w: the operation needs %d notifications and Config.Slots is %d; raise it, or use fewer segments", gaspi.ErrTooMany, b.slots, a.limits.Slots)
	}
	return nil
}

// Full reports whether b has no room before a Sweep: too few notifications are free, or more
// memory would exceed the limit.
func (a *Arena) Full(b *Bid) bool {
	return !a.slots.fits(uint64(b.slots)) || !a.last().space.fits(b.size) && a.total+b.size > a.limits.Scratch
}

// Grow returns the size of the segment to be added before b is claimed, 0 if there is room.
func (a *Arena) Grow(b *Bid) uint64 {
	if a.last().space.fits(b.size) {
		return 0
	}
	return max(RoundUp(b.size, 4096), min(a.total, a.limits.Scratch/4))
}

// Room returns why the notifications that b needs are not free after a Sweep, or nil.
func (a *Arena) Room(b *Bid) error {
	if !a.slots.fits(uint64(b.slots)) {
		return fmt.Errorf("%w: plans hold all but %d of %d notifications; close plans or raise Config.Slots",
			gaspi.ErrTooMany, a.slots.free(), a.limits.Slots)
	}
	return nil
}

// Claim makes the claim of b, for which there is room.
func (a *Arena) Claim(b *Bid) Claim {
	slab := a.last()
	slab.plans++
	return Claim{slot: uint32(a.slots.take(uint64(b.slots))), slots: uint32(b.slots), slab: slab, at: slab.space.take(b.size), size: b.size}
}

// Sweep makes everything free that is in none of the claims that are held, resets its notifications,
// and deletes segments in which no plan has memory. No member has an operation under way,
// and none begins one before all have swept.
func (a *Arena) Sweep(held iter.Seq[*Claim]) {
	a.slots.used = nil
	for _, s := range a.slabs {
		s.space.used, s.plans = nil, 0
	}
	for c := range held {
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

// RoundUp returns the least multiple of to that is at least n.
func RoundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }
