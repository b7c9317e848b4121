package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// barrierAllToOne is Gloo's: all tell rank 0 that they have begun, and it tells all.
//
// Cost: 2 steps; 1 signal sent by each rank, P-1 by rank 0; no memory.
func barrierAllToOne(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	begun, all := b.Slots(p), b.Slots(1)
	if me != 0 {
		b.Signal(0, begun+me)
		b.Await(all)
		return
	}
	awaitAll(b, p, begun)
	for peer := 1; peer < p; peer++ {
		b.Signal(peer, all)
	}
}

func barrierAllToOneFormula(s *price.Topology, c *schedule.Call) price.Profile {
	p := float64(c.Size)
	return price.Profile{Stages: []price.Stage{toOne(s, p, 0), fromOne(s, p, 0)}}
}
