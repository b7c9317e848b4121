package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allReduceDirect is for ranks that share memory: each folds its part of the
// vector from all ranks' contributions, in the order of ranks, and stores it in
// all ranks' results.
//
// Cost: two signals per peer; P reads and P writes of n/P elements; no scratch.
// A peer's second signal also says that it has finished reading.
func allReduceDirect(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	ready, done := b.Slots(p), b.Slots(p)
	signalAll(b, p, ready)
	awaitAll(b, p, ready)
	mine := schedule.Chunk(c.Count, p, me)
	var to, from []schedule.Region
	for r := range p {
		to = append(to, b.Out(r, mine.Off, mine.Len))
		from = append(from, b.In(r, mine.Off, mine.Len))
	}
	b.CombineAll(to, from)
	signalAll(b, p, done)
	awaitAll(b, p, done)
}

// signalAll posts to every other rank the one of its slots from first on that
// belongs to this rank.
func signalAll(b *schedule.Builder, p, first int) {
	for d := 1; d < p; d++ {
		b.Signal(mod(b.Rank()+d, p), first+b.Rank())
	}
}

// awaitAll awaits what all others signal by signalAll.
func awaitAll(b *schedule.Builder, p, first int) {
	for d := 1; d < p; d++ {
		b.Await(first + mod(b.Rank()+d, p))
	}
}

// allReduceDirectFormula is the signals before and behind the fold.
func allReduceDirectFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	return price.Profile{Stages: meetAround(s, p, price.Local{Elements: n / p, Sources: p, Stores: p})}
}
