package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// scatterFlat is P-1 writes from the root, a block to each rank.
//
// Cost: 1 step after the credits; all blocks but its own sent by the root; no scratch.
// A rank's credit says that its result may be overwritten.
func scatterFlat(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	ready, data := b.Slots(p), b.Slots(1)
	if me != c.Root {
		b.Signal(c.Root, ready+me)
		b.Await(data)
		return
	}
	block := blocksOf(c)
	for d := 1; d < p; d++ {
		peer := mod(me+d, p)
		b.Await(ready + peer)
		b.Put(b.Out(peer, 0, block[peer].Len), b.In(me, block[peer].Off, block[peer].Len), data)
	}
	b.Copy(b.Out(me, 0, block[me].Len), b.In(me, block[me].Off, block[me].Len))
}

// scatterFlatFormula is the credits and the writes, as broadcastFlatFormula.
func scatterFlatFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	credit, data := toOne(s, p, 0), fromOne(s, p, n)
	return price.Profile{
		Stages: []price.Stage{credit, data, rootCopy(n)}, Again: []price.Stage{oneHop(credit, 0), oneHop(data, n)}, Spread: true,
	}
}
