package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// deliver puts src to dst and then posts the slot by a signal. Unlike a put's own
// post, a lane's signals arrive in order, so that the slot may be posted in the
// next run although nobody has said that this post arrived. Algorithms that use
// Flip need that: what they know of a peer is that it has begun this run.
func deliver(b *schedule.Builder, dst, src schedule.Region, slot int) {
	if src.Len > 0 {
		b.Put(dst, src, schedule.NoSlot)
	}
	b.Signal(int(dst.Rank), slot)
}

// deliverApart is deliver to memory that has cache lines of its own.
func deliverApart(b *schedule.Builder, dst, src schedule.Region, slot int) {
	if src.Len > 0 {
		b.PutApart(dst, src, schedule.NoSlot)
	}
	b.Signal(int(dst.Rank), slot)
}

// fromOne is messages of n elements from one rank to all others.
func fromOne(s *price.Topology, p, n float64) price.Stage {
	return price.Stage{Route: s.Star(), OneWay: true, Pairs: 1, Busy: price.Leaving, Peers: p - 1, From: 1, Elements: n}
}

// readyFromOne is signals from the first rank, which sends them first of all: in one of two runs others find them there.
func readyFromOne(s *price.Topology, p float64) price.Stage {
	g := fromOne(s, p, 0)
	g.Turns = 0.5
	return g
}

// toOne is messages of n elements from all others to one rank, which alone waits for them.
func toOne(s *price.Topology, p, n float64) price.Stage {
	return price.Stage{Route: s.Star(), OneWay: true, Busy: price.Arrival, Peers: 1, From: p - 1, Elements: n, Turns: 1 / p}
}

// oneHop is a message of n elements along the route of a stage.
func oneHop(g price.Stage, n float64) price.Stage {
	route := g.Route
	route.Far, route.Out, route.Spare = max(route.Far, route.Most), min(route.Out, 1), 0
	return price.Stage{Route: route, OneWay: true, Pairs: 1, Peers: 1, Elements: n}
}

// only is a stage of which a part counts.
func only(half price.Half, g price.Stage) price.Stage {
	g.Only = half
	return g
}

// work is what all ranks do for themselves.
func work(l price.Local) price.Stage { return price.Stage{Turns: -1, Copy: l} }

// rootCopy is the root's copy of its own n elements, beside messages.
func rootCopy(n float64) price.Stage {
	g := only(price.Neither, work(price.Local{Elements: n, Sources: 1}))
	g.Pairs = 1
	return g
}
