package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// reduceScatterHalving is recursive halving for any number of ranks and blocks of
// any length. The ranks are cut into a lower and an upper half, and each rank sends
// its partner in the other half what it has of the other half's blocks; then both
// halves go on by themselves. Of an odd number, the rank of the lower half that has
// no partner sends to the last one of the upper half, and gets nothing.
//
// Cost: log P steps, rounded up; n(P-1)/P elements sent for equal blocks and a power
// of two, and about as many combined; about 2n elements of scratch for a power of
// two and 4n otherwise. Flip suffices: each rank hears from all in every run, in one
// step or another. Partial folds replace what has arrived, so that no source of a
// put is written in the run.
func reduceScatterHalving(b *schedule.Builder, c *schedule.Call) {
	me := b.Rank()
	h := recursiveHalving{b: b, c: c, hi: c.Size}
	first, all := h.blocks(0, c.Size)
	h.part, h.off = b.In(me, first, all), first
	for _, l := range claimHalvings(b, c) {
		if h.hi-h.lo > 1 {
			h.step(l)
		}
	}
	_, n := c.Block(me)
	b.Copy(b.Out(me, 0, n), h.part)
}

// recursiveHalving is what a rank has: part is its fold of the blocks of ranks lo to
// hi-1, which is the group that it belongs to, and off where they begin.
type recursiveHalving struct {
	b      *schedule.Builder
	c      *schedule.Call
	lo, hi int
	part   schedule.Region
	off    int
}

// A halving is the memory and the slots of a step: for the partner and for the rank
// that has none.
type halving struct {
	got    [2]schedule.Memory
	arrive [2]int
}

// claimHalvings makes room for all steps: for the longest part of any group.
func claimHalvings(b *schedule.Builder, c *schedule.Call) []halving {
	var all []halving
	groups := []schedule.Range{{Len: c.Size}}
	for {
		var next []schedule.Range
		longest, odd := 0, 0
		for _, g := range groups {
			lower := (g.Len + 1) / 2
			for _, half := range []schedule.Range{{Off: g.Off, Len: lower}, {Off: g.Off + lower, Len: g.Len - lower}} {
				if g.Len < 2 {
					continue
				}
				first, _ := c.Block(half.Off)
				last, n := c.Block(half.Off + half.Len - 1)
				longest = max(longest, last+n-first)
				odd = max(odd, g.Len%2)
				next = append(next, half)
			}
		}
		if len(next) == 0 {
			return all
		}
		slot := b.Slots(2)
		all = append(all, halving{[2]schedule.Memory{b.Flip(longest), b.Flip(odd * longest)}, [2]int{slot, slot + 1}})
		groups = next
	}
}

// blocks is where the blocks of ranks lo to hi-1 lie.
func (h *recursiveHalving) blocks(lo, hi int) (off, n int) {
	off, _ = h.c.Block(lo)
	last, n := h.c.Block(hi - 1)
	return off, last + n - off
}

// step cuts the group and leaves the rank with its part of its half.
func (h *recursiveHalving) step(l halving) {
	me := h.b.Rank()
	upper := (h.hi - h.lo) / 2
	mid := h.hi - upper
	give, keep := schedule.Range{Off: h.lo, Len: mid - h.lo}, schedule.Range{Off: mid, Len: upper}
	to, which, from := me-(mid-h.lo), 0, 1
	if me < mid {
		give, keep = keep, give
		to = me + (mid - h.lo)
		if to == h.hi {
			to, which, from = h.hi-1, 1, 0
		}
	} else if h.hi-h.lo > 2*upper && me == h.hi-1 {
		from = 2
	}
	off, n := h.blocks(give.Off, give.Off+give.Len)
	deliver(h.b, l.got[which].At(to, 0, n), h.part.Part(off-h.off, n), l.arrive[which])

	off, n = h.blocks(keep.Off, keep.Off+keep.Len)
	all := []schedule.Region{h.part.Part(off-h.off, n)}
	for i := range from {
		h.b.Await(l.arrive[i])
		all = append(all, l.got[i].At(me, 0, n))
	}
	h.lo, h.hi = keep.Off, keep.Off+keep.Len
	h.part, h.off = all[0], off
	if from == 0 {
		return
	}
	h.part = all[1]
	if keep.Len == 1 {
		h.part = h.b.Out(me, 0, n)
	}
	h.b.Combine(h.part, all...)
}

// reduceScatterHalvingFormula is the steps. Of an odd number of ranks one in the upper half, whose vectors are shorter, gets
// and folds two: the longest path does so once. Of one rank more than a power of two the last step is to a rank whose partner
// has waited for nobody in the step before.
func reduceScatterHalvingFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	var p price.Profile
	twice := 1.0
	for group, level := c.Size, 0; group > 1; group, level = group-group/2, level+1 {
		lower, upper, from := n*float64(group-group/2), n*float64(group/2), 1.0
		if group%2 == 1 {
			from, twice = from+twice, 0
		}
		p.Stages = append(p.Stages, price.Stage{
			Route: s.Halves(level), Peers: 1, From: from, Elements: upper, Apart: true, Turns: halvingTurns(c.Size, level),
			Fold: price.Local{Elements: upper, Sources: from + 1, Flip: from + 1},
		})
		if p.Flip += lower; c.Size%(2<<level) != 0 { // some group is odd
			p.Flip += lower
		}
	}
	if before := c.Size - 1; before > 2 && before&(before-1) == 0 {
		p.Stages[len(p.Stages)-1].Only = price.Arrival
	}
	return p
}

// halvingTurns is how often the mean rank gives its core away in a step: every second one of those that have a partner, and all
// of pairs of neighbours, which have their turn at the same time.
func halvingTurns(size, level int) float64 {
	groups := 1 << level
	if size == 2*groups {
		return 1
	}
	shorter := size / groups // ranks of some groups; others have one more
	longer := size % groups
	paired := longer*((shorter+1)&^1) + (groups-longer)*(shorter&^1)
	return float64(paired) / float64(2*size)
}
