package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// incastWindow is how many ranks may be writing to one at a time, where an
// algorithm bounds that: enough to keep a link busy while credits are under way, few
// enough not to overrun it.
const incastWindow = 8

// gatherFlat lets each rank write its block to the root. The root hands out credits
// to Radix ranks at a time, 8 unless told otherwise, so that it is not flooded.
//
// Cost: 1 step after the credits, or P/Radix of them if blocks are large; each rank
// sends its block; no scratch. A credit also says that the result may be overwritten.
func gatherFlat(b *schedule.Builder, c *schedule.Call) {
	me, p, window := b.Rank(), c.Size, radixOr(c, incastWindow)
	credit, data := b.Slots(1), b.Slots(p)
	off, n := c.Block(me)
	if me != c.Root {
		b.Await(credit)
		b.Put(b.Out(c.Root, off, n), b.In(me, 0, n), data+me)
		return
	}
	for d := 1; d < min(window+1, p); d++ {
		b.Signal(mod(me+d, p), credit)
	}
	b.Copy(b.Out(me, off, n), b.In(me, 0, n))
	for d := 1; d < p; d++ {
		b.Await(data + mod(me+d, p))
		if d+window < p {
			b.Signal(mod(me+d+window, p), credit)
		}
	}
}

// gatherFlatFormula is rounds of as many credits and blocks as the window has. The root begins again
// when it has all.
func gatherFlatFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	window := min(float64(radixOr(c, incastWindow)), p-1)
	credit, data := readyFromOne(s, p), toOne(s, p, n)
	others := only(price.Neither, credit)
	credit.Peers, others.Peers = 1, p-2
	data.Times, data.From, data.Pairs, data.Turns, data.Window = (p-1)/window, window, s.OnHost(window), 0.7, window
	return price.Profile{Stages: []price.Stage{credit, others, data, rootCopy(n)}}
}
