package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// deliver puts src to dst and then posts the slot by a signal. Unlike a put's own
// post, a lane's signals arrive in order, so that the slot may be posted in the
// next run although nobody has said that this post arrived. Algorithms that use
// Flip need that: what they know of a peer is that it has begun this run.
func deliver(b *schedule.Builder, dst, src schedule.Region, slot int) {
	if src.Len > 0 {
		b.Put(dst, src, schedule.NoSlot)
	}
	b.Signal(int(dst.Rank), slot)
}
