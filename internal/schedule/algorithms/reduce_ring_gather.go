package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// reduceRingGather is Gloo's reduce: a reduce-scatter on the ring of those who are
// engaged, whereafter each sends its chunk to the root's result.
//
// Cost: P steps; n elements sent by each but the root; 2n(P-1)/P received by the root
// and n(P-1)/P by others, who combine as many; scratch for six chunks, as in
// reduceScatterRing, and one more. The root's result needs no credit, as the root has
// contributed to each chunk; a root that is not engaged says when it has begun.
func reduceRingGather(b *schedule.Builder, c *schedule.Call) {
	me := b.Rank()
	givers := membersOf(c, me).givers()
	p, at, root := len(givers), slices.Index(givers, me), slices.Index(givers, c.Root)
	chunk := func(i int) schedule.Range { return schedule.Chunk(c.Count, p, mod(i, p)) }
	longest := 0
	if p > 0 {
		longest = chunk(0).Len
	}
	r, folded := claimRing(b, p, longest), b.Scratch(longest)
	gather, begun := b.Slots(c.Size), b.Slots(1)
	if me == c.Root && root < 0 {
		for _, giver := range givers {
			b.Signal(giver, begun)
		}
	}
	if at >= 0 {
		r.left, r.right = givers[mod(at-1, p)], givers[mod(at+1, p)]
		mine := chunk(at)
		dst := folded.At(me, 0, mine.Len)
		if me == c.Root {
			dst = b.Out(me, mine.Off, mine.Len)
		}
		r.fold(func(i int) schedule.Region { s := chunk(i); return b.In(me, s.Off, s.Len) }, at, dst)
		if me != c.Root {
			if root < 0 {
				b.Await(begun)
			}
			b.Put(b.Out(c.Root, mine.Off, mine.Len), dst, gather+at)
		}
	}
	if me == c.Root {
		for i := range givers {
			if i != at {
				b.Await(gather + i)
			}
		}
	}
}

// reduceRingGatherFormula is the ring, and then the chunks to the root. The next ring waits for one of them, while others
// are still on their way.
func reduceRingGatherFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	ring, chunks := ringFold(s, p, n/p), toOne(s, p, n/p)
	if s.Least == 1 && s.Most > 1 { // a rank alone on its node passes on slowly, so that half of the others have ended the ring before
		chunks.From /= 2
	}
	return price.Profile{
		Stages: []price.Stage{ring, chunks}, Again: []price.Stage{ring, oneHop(chunks, n/p)}, Scratch: n / p, Flip: 3 * n / p,
	}
}
