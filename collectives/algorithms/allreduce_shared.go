package algorithms

import (
	"errors"

	"github.com/gaspi-go/gaspi-go/collectives/schedule"
)

// allReduceShared is for ranks that share memory but whose buffers peers cannot
// reach: each copies to scratch what others fold, folds its part of the vector
// from all contributions in the order of ranks, and takes the parts of the others
// from theirs. Cut into segments, the copies stay in the cache.
//
// Cost: two signals per peer; n(P-1)/P elements copied there and as many back; n+n/P
// elements of scratch.
func allReduceShared(b *schedule.Builder, c *schedule.Call) {
	pool(b, c, func(int) bool { return true })
}

// reduceShared is allReduceShared whose result only the root takes.
func reduceShared(b *schedule.Builder, c *schedule.Call) {
	pool(b, c, func(r int) bool { return r == c.Root })
}

// allEngaged refuses a process threshold.
func allEngaged(c *schedule.Call) error {
	if c.Engaged != nil {
		return errors.New("shared reduces the contributions of all ranks")
	}
	return nil
}

// pool is a reduction through scratch that all ranks can reach; takes says who
// gets the result. Nothing is overwritten before it was read: a rank changes its
// copy of its contribution when all have said that they are done with it, and the
// result of its part when all have begun anew and so have taken it.
func pool(b *schedule.Builder, c *schedule.Call, takes func(r int) bool) {
	me, p := b.Rank(), c.Size
	part := func(r int) schedule.Range { return schedule.Chunk(c.Count, p, r) }
	given, folded := b.Scratch(c.Count), b.Scratch(part(0).Len)
	ready, done := b.Slots(p), b.Slots(p)
	for d := 1; d < p; d++ {
		r := mod(me+d, p)
		theirs := part(r)
		b.Copy(given.At(me, theirs.Off, theirs.Len), b.In(me, theirs.Off, theirs.Len))
		b.Signal(r, ready+me)
	}
	awaitAll(b, p, ready)
	mine := part(me)
	to := []schedule.Region{folded.At(me, 0, mine.Len)}
	if takes(me) {
		to = []schedule.Region{b.Out(me, mine.Off, mine.Len), to[0]}
	}
	var from []schedule.Region
	for r := range p {
		if r == me {
			from = append(from, b.In(me, mine.Off, mine.Len))
		} else {
			from = append(from, given.At(r, mine.Off, mine.Len))
		}
	}
	b.CombineAll(to, from)
	signalAll(b, p, done)
	for d := 1; d < p; d++ {
		r := mod(me+d, p)
		b.Await(done + r)
		if theirs := part(r); takes(me) {
			b.Copy(b.Out(me, theirs.Off, theirs.Len), folded.At(r, 0, theirs.Len))
		}
	}
}
