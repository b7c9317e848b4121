package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// broadcastSplit is broadcastDirect with a part for the root, whose core is idle
// there: each rank copies the first (P-1)/P of the root's vector itself, and the
// root stores the rest in all results at the same time.
//
// Cost: two signals to and from each peer; each rank writes n(P-1)/P elements; no
// scratch. The root writes when a peer has said that its result may be overwritten,
// and ends when all have read.
func broadcastSplit(b *schedule.Builder, c *schedule.Call) {
	me, p, n := b.Rank(), c.Size, c.Count
	ready, stored := b.Slots(1), b.Slots(1)
	begun, done := b.Slots(p), b.Slots(p)
	head := n - n/p
	if me != c.Root {
		b.Signal(c.Root, begun+me)
		b.Await(ready)
		b.Copy(b.Out(me, 0, head), b.In(c.Root, 0, head))
		b.Signal(c.Root, done+me)
		b.Await(stored)
		return
	}
	var rest []schedule.Region
	for d := 1; d < p; d++ {
		r := mod(me+d, p)
		b.Signal(r, ready)
		rest = append(rest, b.Out(r, head, n-head))
	}
	awaitAll(b, p, begun)
	if p > 1 {
		b.CombineAll(rest, []schedule.Region{b.In(me, head, n-head)})
	}
	for d := 1; d < p; d++ {
		b.Signal(mod(me+d, p), stored)
	}
	awaitAll(b, p, done)
}

// broadcastSplitFormula is the signals to all, the copies of all with those of the root, and the
// signals of both.
func broadcastSplitFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	return price.Profile{Stages: []price.Stage{
		readyFromOne(s, p), work(price.Local{Elements: n * (p - 1) / p, Sources: 1}), readyFromOne(s, p), only(price.Arrival, toOne(s, p, 0)),
	}}
}
