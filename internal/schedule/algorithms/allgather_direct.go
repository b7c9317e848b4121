package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allGatherDirect is for ranks that share memory: each copies the blocks of all
// others from where they lie.
//
// Cost: two signals per peer; all blocks read and written once by each rank; no
// scratch. Nobody ends before all have read its block.
func allGatherDirect(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	ready, done := b.Slots(p), b.Slots(p)
	signalAll(b, p, ready)
	for d, block := 0, blocksOf(c); d < p; d++ {
		r := mod(me+d, p)
		if r != me {
			b.Await(ready + r)
		}
		b.Copy(b.Out(me, block[r].Off, block[r].Len), b.In(r, 0, block[r].Len))
		if r != me {
			b.Signal(r, done+me)
		}
	}
	awaitAll(b, p, done)
}

// allGatherDirectFormula is the signals of all, and copies of all blocks.
func allGatherDirectFormula(s *price.Topology, c *schedule.Call) price.Profile {
	p := float64(c.Size)
	return price.Profile{Stages: meetAround(s, p, price.Local{Times: p, Elements: float64(c.Count), Sources: 1})}
}
