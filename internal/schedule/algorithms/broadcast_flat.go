package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// broadcastFlat is P-1 writes from the root: the first way of the paper on
// eventually consistent collectives (Section III-B), and Gloo's one-to-all.
//
// Cost: 1 step after the credits; n(P-1) elements sent by the root; no scratch.
// Each rank says when its result may be overwritten; ranks that come together say
// so while the root is busy with the first of them.
func broadcastFlat(b *schedule.Builder, c *schedule.Call) {
	me, p, n := b.Rank(), c.Size, c.Count
	ready, data := b.Slots(p), b.Slots(1)
	if me != c.Root {
		b.Signal(c.Root, ready+me)
		b.Await(data)
		return
	}
	for d := 1; d < p; d++ {
		peer := mod(me+d, p)
		b.Await(ready + peer)
		b.Put(b.Out(peer, 0, n), b.In(me, 0, n), data)
	}
}

// broadcastFlatFormula is the credits and the writes. The root begins again when it has written;
// a rank is written to again when its credit has come.
func broadcastFlatFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	credit, data := toOne(s, p, 0), fromOne(s, p, n)
	return price.Profile{Stages: []price.Stage{credit, data}, Again: []price.Stage{oneHop(credit, 0), oneHop(data, n)}, Spread: true}
}
