package figure

import (
	"math/bits"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// foldedHalving is Rabenseifner's algorithm as MPI libraries have it (Thakur, Rabenseifner
// and Gropp, 2005, Section 4.5): of the ranks beyond a power of two each gives all of its
// vector to a neighbour before, and gets all of the result from it after. The library's
// own cuts the ranks into binary blocks instead, which moves half as much on 9 ranks. This
// one is there to be priced.
func foldedHalving(b *schedule.Builder, c *schedule.Call) {
	me, n := b.Rank(), c.Count
	levels := bits.Len(uint(c.Size)) - 1
	extra := c.Size - 1<<levels
	neighbour := b.Scratch(n)
	got := make([]schedule.Memory, levels)
	for level := range got {
		got[level] = b.Scratch(n>>(level+1) + levels)
	}
	fold, result, halve, double := b.Slots(1), b.Slots(1), b.Slots(levels), b.Slots(levels)
	if me < 2*extra && me%2 == 0 { // this one has no part in the rest
		b.Put(neighbour.At(me+1, 0, n), b.In(me, 0, n), fold)
		b.Await(result)
		return
	}
	own := func(off, n int) schedule.Region { return b.In(me, off, n) }
	folded := func(off, n int) schedule.Region { return b.Out(me, off, n) }
	if me < 2*extra {
		b.Await(fold)
		b.Combine(folded(0, n), neighbour.At(me, 0, n), own(0, n))
		own = folded
	}
	number := me - min(extra, (me+1)/2)
	rank := func(number int) int { return number + min(extra, number+1) }
	low, high := make([]int, levels+1), make([]int, levels+1)
	high[0] = n
	for level := range levels {
		partner := rank(number ^ 1<<level)
		middle := (low[level] + high[level]) / 2
		keep, give := [2]int{low[level], middle}, [2]int{middle, high[level]}
		if number>>level&1 == 1 {
			keep, give = give, keep
		}
		b.Put(got[level].At(partner, 0, give[1]-give[0]), own(give[0], give[1]-give[0]), halve+level)
		b.Await(halve + level)
		b.Combine(folded(keep[0], keep[1]-keep[0]), own(keep[0], keep[1]-keep[0]), got[level].At(me, 0, keep[1]-keep[0]))
		own = folded
		low[level+1], high[level+1] = keep[0], keep[1]
	}
	for level := levels - 1; level >= 0; level-- {
		partner := rank(number ^ 1<<level)
		off, n := low[level+1], high[level+1]-low[level+1]
		b.Put(b.Out(partner, off, n), b.Out(me, off, n), double+level)
		b.Await(double + level)
	}
	if me < 2*extra {
		b.Put(b.Out(me-1, 0, n), b.Out(me, 0, n), result)
	}
}
