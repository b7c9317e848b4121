package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// scatterDirect is for ranks that share memory: each copies its block from the
// root's vector itself, all at the same time.
//
// Cost: two signals per peer; each rank's block read and written once; no scratch.
// The root ends when all have read.
func scatterDirect(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	ready, done := b.Slots(1), b.Slots(p)
	off, n := c.Block(me)
	if me != c.Root {
		b.Await(ready)
		b.Copy(b.Out(me, 0, n), b.In(c.Root, off, n))
		b.Signal(c.Root, done+me)
		return
	}
	for d := 1; d < p; d++ {
		b.Signal(mod(me+d, p), ready)
	}
	b.Copy(b.Out(me, 0, n), b.In(me, off, n))
	awaitAll(b, p, done)
}

// scatterDirectFormula is the signals to all, the copies, and the signals to the root.
func scatterDirectFormula(s *price.Topology, c *schedule.Call) price.Profile {
	return readFromRoot(s, c)
}
