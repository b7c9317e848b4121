package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// gatherDirect is for ranks that share memory: each copies its block into the
// root's result itself, all at the same time.
//
// Cost: two signals per peer; each rank's block read and written once; no scratch.
// The root's signal says that its result may be overwritten.
func gatherDirect(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	ready, done := b.Slots(1), b.Slots(p)
	off, n := c.Block(me)
	if me != c.Root {
		b.Await(ready)
		b.Copy(b.Out(c.Root, off, n), b.In(me, 0, n))
		b.Signal(c.Root, done+me)
		return
	}
	for d := 1; d < p; d++ {
		b.Signal(mod(me+d, p), ready)
	}
	b.Copy(b.Out(me, off, n), b.In(me, 0, n))
	awaitAll(b, p, done)
}

// gatherDirectFormula is the signals to all, the copies, and the signals to the root.
func gatherDirectFormula(s *price.Topology, c *schedule.Call) price.Profile {
	return readFromRoot(s, c)
}
