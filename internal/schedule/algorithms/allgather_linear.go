package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allGatherLinear lets everybody write its block to everybody.
//
// Cost: 1 step after the credits; P-1 times its block sent by each rank; no scratch.
// Credits, sent at once, say that results may be overwritten.
func allGatherLinear(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	ready, data := b.Slots(p), b.Slots(p)
	off, n := c.Block(me)
	signalAll(b, p, ready)
	b.Copy(b.Out(me, off, n), b.In(me, 0, n))
	for d := 1; d < p; d++ {
		peer := mod(me+d, p)
		b.Await(ready + peer)
		b.Put(b.Out(peer, off, n), b.In(me, 0, n), data+me)
	}
	awaitAll(b, p, data)
}

// allGatherLinearFormula is the credits of all and the blocks to all.
func allGatherLinearFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	credit := price.Stage{Route: s.Everybody(), Peers: p - 1}
	data := credit
	data.Elements = n
	return price.Profile{Stages: []price.Stage{credit, data, ownCopy(c, n)}}
}
