package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// broadcastChain hands the vector on from rank to rank. By itself it is slow;
// schedule.Pipeline makes of it the pipelined chain, which for large vectors is
// within a few segments of the bandwidth of one link, however many ranks there are.
//
// Cost: P-1 steps, and one more for each further segment under way; n elements sent
// by each rank but the last; no scratch. A rank's credit tells the one before it that
// its result may be overwritten.
func broadcastChain(b *schedule.Builder, c *schedule.Call) {
	me, p, n := b.Rank(), c.Size, c.Count
	ready, data := b.Slots(1), b.Slots(1)
	left, right := mod(me-1, p), mod(me+1, p)
	if me != c.Root {
		b.Signal(left, ready)
		b.Await(data)
	}
	if right != c.Root {
		b.Await(ready)
		b.Put(b.Out(right, 0, n), b.Out(me, 0, n), data)
	}
}

// broadcastChainFormula is the hops. A rank is written to again when it has written to the next.
func broadcastChainFormula(s *price.Topology, c *schedule.Call) price.Profile {
	hop := chainHop(s, c)
	return price.Profile{
		Stages: []price.Stage{{Route: s.Ring(1), OneWay: true, Peers: 1, Turns: -1}, hop},
		Again:  []price.Stage{oneHop(hop, 0), oneHop(hop, hop.Elements), only(price.Leaving, oneHop(hop, hop.Elements))},
	}
}

// chainHop is the hops of a vector from rank to rank, of which each rank does one.
func chainHop(s *price.Topology, c *schedule.Call) price.Stage {
	hops := float64(c.Size - 1)
	return price.Stage{Times: hops, Share: 1 / hops, Route: s.Ring(1), OneWay: true, Peers: 1, Elements: float64(c.Count)}
}
