package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// broadcastDirect is for ranks that share memory: each copies the root's vector
// into its result itself, all at the same time.
//
// Cost: two signals per peer; P-1 reads of n elements side by side; no scratch. The
// root ends when all have read.
func broadcastDirect(b *schedule.Builder, c *schedule.Call) {
	me, p, n := b.Rank(), c.Size, c.Count
	ready, done := b.Slots(1), b.Slots(p)
	if me != c.Root {
		b.Await(ready)
		b.Copy(b.Out(me, 0, n), b.In(c.Root, 0, n))
		b.Signal(c.Root, done+me)
		return
	}
	for d := 1; d < p; d++ {
		b.Signal(mod(me+d, p), ready)
	}
	awaitAll(b, p, done)
}

// broadcastDirectFormula is the signals to all, the copies, and the signals to the root.
func broadcastDirectFormula(s *price.Topology, c *schedule.Call) price.Profile {
	return readFromRoot(s, c)
}

// readFromRoot is the stages of ranks that each copy so many elements of the root when it says so.
func readFromRoot(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	read := work(price.Local{Elements: n, Sources: 1})
	read.Others = true
	return price.Profile{Stages: []price.Stage{readyFromOne(s, p), read, toOne(s, p, 0)}}
}
