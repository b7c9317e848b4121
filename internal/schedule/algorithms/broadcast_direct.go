package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

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
