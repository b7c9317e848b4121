package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// reduceScatterRing sends partial folds of the blocks round the ring: block i starts
// at the rank after i and is finished at rank i.
//
// Cost: P-1 steps, n(P-1)/P elements sent and as many combined; scratch for six
// blocks of the longest kind. Partial folds replace what has arrived. A block goes
// into one of three inboxes as allReduceGlooRing describes; each rank hears of its
// right in every run, since the last message it gets began there.
func reduceScatterRing(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	r := claimRing(b, p, longestBlock(c))
	r.left, r.right = mod(me-1, p), mod(me+1, p)
	own := func(i int) schedule.Region {
		off, n := c.Block(mod(i, p))
		return b.In(me, off, n)
	}
	_, n := c.Block(me)
	r.fold(own, me, b.Out(me, 0, n))
}

// fold sends partial folds of P blocks round the ring so that each ends at its
// place; me is the rank's. The last fold, of its own block, goes to dst, or stays
// where it is if dst is empty; fold returns where it is.
func (r *ring) fold(own func(i int) schedule.Region, me int, dst schedule.Region) schedule.Region {
	if r.messages == 0 {
		r.b.Copy(dst, own(me))
		return dst
	}
	r.send(0, own(me-1))
	for k := range r.messages - 1 {
		mine := own(me - k - 2)
		part := r.receive(k, mine.Len)
		r.b.Combine(part, part, mine)
		r.send(k+1, part)
		r.free(k, true)
	}
	mine := own(me)
	r.b.Combine(dst, r.receive(r.messages-1, mine.Len), mine)
	return dst
}

// longestBlock is the elements of the longest block.
func longestBlock(c *schedule.Call) int {
	longest := 0
	for r := range c.Size {
		_, n := c.Block(r)
		longest = max(longest, n)
	}
	return longest
}

// reduceScatterRingFormula is the steps of the ring.
func reduceScatterRingFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	return price.Profile{Stages: []price.Stage{ringFold(s, float64(c.Size), n)}, Flip: ringInbox * n}
}

// ringFold is the steps of a ring through inboxes, with a fold of n elements in each.
func ringFold(s *price.Topology, p, n float64) price.Stage {
	g := price.Stage{
		Times: p - 1, Route: s.Ring(1), Peers: 1, Elements: n, Apart: true, Flushed: true, Turns: ringTurns(s, p-1),
		Fold: price.Local{Elements: n, Sources: 2, Flip: 2},
	}
	if p-1 > ringInbox {
		g.Credits, g.Window = 1, ringInbox
		g.Turns = max(g.Turns, 1.2/ringInbox) // it gets no further ahead of the next rank
	}
	return g
}
