package algorithms

import (
	"errors"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allReduceShared is for ranks that share memory but whose buffers peers cannot
// reach: each copies to scratch what others fold, folds its part of the vector
// from all contributions in the order of ranks, and leaves the result in their
// place, where each finds it in its own scratch. Cut into segments, the copies stay
// in the cache; and as a cache line goes to who folds and back, instead of one there
// and another back, it changes cores half as often, for whoever has it may write it.
//
// Cost: two signals per peer; n(P-1)/P elements copied there and as many back; n
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
// gets the result. Nothing is overwritten before it was read: only the rank that
// folds a part writes where others have put theirs, when they have said so, and
// they do nothing there before it has said that it is done.
func pool(b *schedule.Builder, c *schedule.Call, takes func(r int) bool) {
	me, p := b.Rank(), c.Size
	part := func(r int) schedule.Range { return schedule.Chunk(c.Count, p, r) }
	given := b.Scratch(c.Count)
	ready, done := b.Slots(p), b.Slots(p)
	for d := 1; d < p; d++ {
		r := mod(me+d, p)
		theirs := part(r)
		b.Copy(given.At(me, theirs.Off, theirs.Len), b.In(me, theirs.Off, theirs.Len))
		b.Signal(r, ready+me)
	}
	awaitAll(b, p, ready)
	mine := part(me)
	var to, from []schedule.Region
	if takes(me) {
		to = append(to, b.Out(me, mine.Off, mine.Len))
	}
	for r := range p {
		if r == me {
			from = append(from, b.In(me, mine.Off, mine.Len))
			continue
		}
		theirs := given.At(r, mine.Off, mine.Len)
		from = append(from, theirs)
		if takes(r) {
			to = append(to, theirs)
		}
	}
	if len(to) > 0 {
		b.CombineAll(to, from)
	}
	signalAll(b, p, done)
	for d := 1; d < p; d++ {
		r := mod(me+d, p)
		b.Await(done + r)
		if theirs := part(r); takes(me) {
			b.Copy(b.Out(me, theirs.Off, theirs.Len), given.At(me, theirs.Off, theirs.Len))
		}
	}
}

// allReduceSharedFormula is the copies to scratch, the fold, and the copies back.
func allReduceSharedFormula(s *price.Topology, c *schedule.Call) price.Profile {
	return poolFormula(s, c, float64(c.Size))
}

func reduceSharedFormula(s *price.Topology, c *schedule.Call) price.Profile {
	return poolFormula(s, c, 1)
}

// poolFormula is the stages of pool, whose result so many ranks take.
func poolFormula(s *price.Topology, c *schedule.Call, takers float64) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	give := price.Stage{
		Route: s.Everybody(), Peers: p - 1,
		Copy: price.Local{Times: p - 1, Elements: n / p, Sources: 1, Scratch: 1},
		Fold: price.Local{Elements: n / p, Sources: p, Stores: takers, Scratch: p - 1 + takers - 1},
	}
	done, back := price.Stage{Route: s.Everybody(), Peers: p - 1}, price.Local{Times: p - 1, Elements: n / p, Sources: 1, Scratch: 1}
	if takers == p {
		done.Copy = back
		return price.Profile{Stages: []price.Stage{give, done}, Scratch: n}
	}
	take := work(back)
	take.Pairs, take.OneWay = takers, true
	return price.Profile{Stages: []price.Stage{give, done, take}, Scratch: n}
}
