package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// reduceFlat is for tiny vectors: all send theirs to the root, which folds them in
// the order of ranks.
//
// Cost: 1 step; n elements sent by each, n(P-1) received and combined by the root,
// in one pass; twice as much scratch. The root says to all that it has begun, and
// they await that at the end: so in the next run they know that it has finished the
// last but one, which used the same copy of Flip.
func reduceFlat(b *schedule.Builder, c *schedule.Call) {
	m, me, n := membersOf(c, b.Rank()), b.Rank(), c.Count
	stride := b.RoundUp(n)
	got, slot, begun := b.Flip(c.Size*stride), b.Slots(c.Size), b.Slots(1)
	if m.me < 0 {
		return
	}
	if me != c.Root {
		deliver(b, got.At(c.Root, me*stride, n), b.In(me, 0, n), slot+me)
		b.Await(begun)
		return
	}
	for _, r := range m.ranks {
		if r != me {
			b.Signal(r, begun)
		}
	}
	var from []schedule.Region
	for i, r := range m.ranks {
		switch {
		case r != me:
			b.Await(slot + r)
			from = append(from, got.At(me, r*stride, n))
		case m.gives[i]:
			from = append(from, b.In(me, 0, n))
		}
	}
	if len(from) > 0 {
		b.Combine(b.Out(me, 0, n), from...)
	}
}

// reduceFlatFormula is the messages to the root and its fold. All others begin again when they
// have heard that the root has begun.
func reduceFlatFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	data, fold := toOne(s, p, n), price.Stage{Pairs: 1, Turns: -1, Fold: price.Local{Elements: n, Sources: p}}
	data.Apart = true
	begun := only(price.Leaving, fromOne(s, p, 0))
	return price.Profile{Stages: []price.Stage{begun, data, fold}, Flip: n * p, Again: []price.Stage{oneHop(data, 0), fold}}
}
