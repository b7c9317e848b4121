package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allGatherDoubling doubles in every step what a rank has: it writes all of it to
// the rank that many places before it, straight into the result. Unlike the textbook's
// recursive doubling this takes any number of ranks. For blocks of middle size.
//
// Cost: log P steps after the first credit, rounded up; all blocks but one sent by
// each rank, a step's in one piece, or two where they go around the end; no scratch.
// Credits, sent at once, say that results may be overwritten.
func allGatherDoubling(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	block, stages := blocksOf(c), log2up(c.Size)
	ready, data := b.Slots(stages), b.Slots(stages)
	for k := range stages {
		b.Signal(mod(me+1<<k, p), ready+k)
	}
	own := b.In(me, 0, block[me].Len)
	home := b.Out(me, block[me].Off, block[me].Len)
	if p == 1 {
		b.Copy(home, own)
	}
	for k := range stages {
		peer := mod(me-1<<k, p)
		send := block.ranges(me, min(1<<k, p-1<<k))
		b.Await(ready + k)
		if k == 0 {
			b.Put(b.Out(peer, block[me].Off, own.Len), own, data)
			b.Copy(home, own)
		} else {
			putAll(b, peer, regions(b.Out, peer, send), regions(b.Out, me, send), data+k)
		}
		b.Await(data + k)
	}
}

// allGatherDoublingFormula is the credits and the steps, most of whose messages are in two pieces.
func allGatherDoublingFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	steps := float64(log2up(c.Size))
	credit := price.Stage{Route: s.Ring(1), Peers: steps, From: 1, Turns: -1}
	stages := append([]price.Stage{credit}, growingStages(s, c.Size, 2, n, false)...)
	around := price.Stage{Route: s.Ring(1), Peers: 1, Elements: n, Apart: true, Only: price.Leaving, Turns: -1, Times: (steps - 1) / 2}
	return price.Profile{Stages: append(stages, around, ownCopy(c, n))}
}

// growingStages are the rounds in each of which a rank sends all that it has to radix-1 others.
func growingStages(s *price.Topology, size, radix int, n float64, apart bool) []price.Stage {
	var all []price.Stage
	for have := 1; have < size; have *= radix {
		digits := digitsOf(size, radix, have)
		sent := float64(min(size, radix*have) - have)
		all = append(all, price.Stage{
			Route: s.Rings(have, digits-1), Peers: float64(digits - 1), Elements: n * sent / float64(digits-1), Apart: apart, Turns: aheadTurns(size, radix, have),
		})
	}
	return all
}
