package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// reduceScatterDirect is for ranks that share memory: each folds its block from all
// ranks' contributions, in the order of ranks.
//
// Cost: two signals per peer; P reads and one write of the block; no scratch. A
// peer's second signal says that it has finished reading.
func reduceScatterDirect(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	ready, done := b.Slots(p), b.Slots(p)
	off, n := c.Block(me)
	signalAll(b, p, ready)
	awaitAll(b, p, ready)
	var from []schedule.Region
	for r := range p {
		from = append(from, b.In(r, off, n))
	}
	b.Combine(b.Out(me, 0, n), from...)
	signalAll(b, p, done)
	awaitAll(b, p, done)
}

func reduceScatterDirectFormula(s *price.Topology, c *schedule.Call) price.Profile {
	p := float64(c.Size)
	return price.Profile{Stages: meetAround(s, p, price.Local{Elements: float64(c.Count), Sources: p})}
}
