package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allToAllPairwise exchanges blocks in rounds, in each of which every rank sends to
// one and receives from one. For large blocks.
//
// Cost: P-1 steps after the first credit; all blocks but its own sent by each rank; no
// scratch, or the vector in place. Credits, sent at once, say that results may be
// overwritten; in place they come after the copy.
func allToAllPairwise(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	ready, data := b.Slots(p), b.Slots(p) // slot of a round: 1 to p-1
	from := departures(b, c)
	for round := 1; round < p; round++ {
		_, sender := meets(me, p, round)
		b.Signal(sender, ready+round)
	}
	b.Copy(arrival(b, c, me, me), from(me, me))
	for round := 1; round < p; round++ {
		peer, _ := meets(me, p, round)
		b.Await(ready + round)
		b.Put(arrival(b, c, peer, me), from(me, peer), data+round)
		b.Await(data + round)
	}
}

// allToAllPairwiseFormula is the credits and the rounds.
func allToAllPairwiseFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	credit := price.Stage{Route: s.Everybody(), Peers: p - 1, From: 1, Copy: price.Local{Elements: n, Sources: 1}, Only: price.Leaving, Turns: -1}
	round := price.Stage{
		Route: meetings(s, c), Peers: 1, Elements: n, Times: p - 1, Turns: p / 2 / (p - 1), // every other one finds its block there
	}
	return departing(c, n, []price.Stage{credit, round})
}
