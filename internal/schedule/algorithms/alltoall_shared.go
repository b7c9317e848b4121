package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allToAllShared is for ranks that share memory: each copies the blocks that are
// its own straight from the vectors of the others.
//
// Cost: two signals per peer; each block read and written once, twice in place; no
// scratch, or the vector in place. Nobody ends before all have read its blocks.
func allToAllShared(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	ready, done := b.Slots(p), b.Slots(p)
	from := departures(b, c)
	signalAll(b, p, ready)
	b.Copy(arrival(b, c, me, me), from(me, me))
	for d := 1; d < p; d++ {
		r := mod(me+d, p)
		b.Await(ready + r)
		b.Copy(arrival(b, c, me, r), from(r, me))
		b.Signal(r, done+me)
	}
	awaitAll(b, p, done)
}

// allToAllSharedFormula is the signals of all and the copies of all blocks.
func allToAllSharedFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	return departing(c, n, meetAround(s, p, price.Local{Times: p, Elements: n, Sources: 1}))
}
