package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// barrierAllToAll is Gloo's: all tell all that they have begun.
//
// Cost: 1 step; P-1 signals sent by each rank; no memory.
func barrierAllToAll(b *schedule.Builder, c *schedule.Call) {
	slot := b.Slots(c.Size)
	signalAll(b, c.Size, slot)
	awaitAll(b, c.Size, slot)
}
