package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allGatherRing lets blocks go round: in every step each rank writes to its right
// the block that it got last from its left. For large blocks.
//
// Cost: P-1 steps; all blocks but one sent by each rank; no scratch. A rank's one
// credit tells its left that its result may be overwritten; each block has a place of
// its own there.
func allGatherRing(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	block := blocksOf(c)
	ready, data := b.Slots(1), b.Slots(p-1)
	left, right := mod(me-1, p), mod(me+1, p)
	if p > 1 {
		b.Signal(left, ready)
		b.Await(ready)
	}
	own := block[me]
	from := b.In(me, 0, own.Len)
	for k := range p - 1 {
		send := block[mod(me-k, p)]
		b.Put(b.Out(right, send.Off, send.Len), from, data+k)
		if k == 0 {
			b.Copy(b.Out(me, own.Off, own.Len), from)
		}
		b.Await(data + k)
		got := block[mod(me-k-1, p)]
		from = b.Out(me, got.Off, got.Len)
	}
	if p == 1 {
		b.Copy(b.Out(me, own.Off, own.Len), from)
	}
}

// allGatherRingFormula is a credit and the steps of the ring. The longest path goes to another node and back at once with
// the credit, and does not go from the last rank of those steps to the first, which may share a node.
func allGatherRingFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	back, on := s.Ring(1), s.Ring(1)
	back.Far, on.Far = back.Most, min(1, on.Far*p/max(1, p-1))
	credit := price.Stage{Route: back, Peers: 1}
	hop := price.Stage{Times: p - 1, Route: on, Peers: 1, Elements: n, Turns: ringTurns(s, p-1), Passes: true}
	return price.Profile{Stages: []price.Stage{credit, hop, ownCopy(c, n)}}
}

// ownCopy is the copy of a rank's own block, while others are on their way.
func ownCopy(c *schedule.Call, n float64) price.Stage {
	if c.InPlace {
		n = 0
	}
	return only(price.Neither, work(price.Local{Elements: n, Sources: 1}))
}
