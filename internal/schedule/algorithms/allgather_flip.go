package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allGatherFlip lets everybody write its block to everybody in one round, through
// memory that is free without a credit. For tiny blocks.
//
// Cost: 1 step; P-1 times its block sent by each rank; a copy of the vector; twice
// the vector of scratch, each block on cache lines of its own. Everybody hears of
// everybody in every run, and so writes into memory that was last used in a run that
// its owner has finished.
func allGatherFlip(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	block := blocksOf(c)
	place := apart(b, block)
	hold, data := b.Flip(place[p]), b.Slots(p)
	own := b.In(me, 0, block[me].Len)
	for d := 1; d < p; d++ {
		deliverApart(b, hold.At(mod(me+d, p), place[me], own.Len), own, data+me)
	}
	b.Copy(b.Out(me, block[me].Off, own.Len), own)
	unpack(b, p, data, func(r int) (to, from schedule.Region) {
		return b.Out(me, block[r].Off, block[r].Len), hold.At(me, place[r], block[r].Len)
	})
}

// apart is where blocks begin if each has cache lines of its own, and the end of all.
func apart(b *schedule.Builder, block blocks) []int {
	place := make([]int, len(block)+1)
	for i, r := range block {
		place[i+1] = place[i] + b.RoundUp(r.Len)
	}
	return place
}

// allGatherFlipFormula is the blocks to all and the copies.
func allGatherFlipFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	data := price.Stage{Route: s.Everybody(), Peers: p - 1, Elements: n, Apart: true}
	data.Copy = price.Local{Times: p, Elements: n, Sources: 1, Flip: 1}
	return price.Profile{Stages: []price.Stage{data}, Flip: n * p}
}
