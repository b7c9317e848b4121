package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allGatherSpread is for ranks that share memory: each stores its block in the
// results of all. A rank reads one block, and not all of them as in allGatherDirect.
//
// Cost: two signals per peer; a block read once and written P times by each rank;
// no scratch. Nobody writes before all have said that their results may be
// overwritten.
func allGatherSpread(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	ready, done := b.Slots(p), b.Slots(p)
	off, n := c.Block(me)
	signalAll(b, p, ready)
	awaitAll(b, p, ready)
	var to []schedule.Region
	for d := range p {
		if r := mod(me+d, p); r != me || !c.InPlace {
			to = append(to, b.Out(r, off, n))
		}
	}
	if len(to) > 0 {
		b.CombineAll(to, []schedule.Region{b.In(me, 0, n)})
	}
	signalAll(b, p, done)
	awaitAll(b, p, done)
}

// allGatherSpreadFormula is the signals before and behind the copies of a rank's block.
func allGatherSpreadFormula(s *price.Topology, c *schedule.Call) price.Profile {
	p := float64(c.Size)
	return price.Profile{Stages: meetAround(s, p, price.Local{Elements: float64(c.Count), Sources: 1, Stores: p})}
}
