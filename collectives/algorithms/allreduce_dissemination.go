package algorithms

import "github.com/gaspi-go/gaspi-go/collectives/schedule"

// allReduceDissemination sends the whole vector to all others in one round; each
// folds what it got in the order of ranks. For tiny vectors.
//
// Cost: 1 step, n(P-1) elements sent, n(P-1) combined, twice nP elements of scratch.
func allReduceDissemination(b *schedule.Builder, c *schedule.Call) {
	me, p, n := b.Rank(), c.Size, c.Count
	stride := b.RoundUp(n)
	got, slot := b.Flip(p*stride), b.Slots(p)
	for d := 1; d < p; d++ {
		b.Put(got.At(mod(me+d, p), me*stride, n), b.In(me, 0, n), slot+me)
	}
	awaitAll(b, p, slot)
	var from []schedule.Region
	for r := range p {
		if r == me {
			from = append(from, b.In(me, 0, n))
		} else {
			from = append(from, got.At(me, r*stride, n))
		}
	}
	b.Combine(b.Out(me, 0, n), from...)
}
