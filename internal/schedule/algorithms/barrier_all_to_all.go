package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// barrierAllToAll is Gloo's: all tell all that they have begun.
//
// Cost: 1 step; P-1 signals sent by each rank; no memory.
func barrierAllToAll(b *schedule.Builder, c *schedule.Call) {
	slot := b.Slots(c.Size)
	signalAll(b, c.Size, slot)
	awaitAll(b, c.Size, slot)
}

func barrierAllToAllFormula(s *price.Topology, c *schedule.Call) price.Profile {
	return price.Profile{Stages: []price.Stage{{Route: s.Everybody(), Peers: float64(c.Size - 1)}}}
}
