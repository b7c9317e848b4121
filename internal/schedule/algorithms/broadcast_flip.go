package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// broadcastRadix is one more than the ranks that a rank writes to in one round.
// Ranks that share cores pay a turn of the scheduler for each round, so that few
// rounds are worth many messages; it is the radix of the runtime's own barrier.
const broadcastRadix = 16

// broadcastFlip is for tiny vectors: they go down a tree of high radix, through
// memory that is free without a credit, and are copied to the result there.
//
// Cost: log P steps to the base of the radix, rounded up, 1 for up to 16 ranks; the
// root sends n elements 15 times in each; twice n elements of scratch. Each rank tells
// its parent that it has begun, and the parent does not end before it has heard that:
// so in the next run it knows that the child has finished the last run but one, which
// used the same copy.
func broadcastFlip(b *schedule.Builder, c *schedule.Call) {
	me, n := b.Rank(), c.Count
	tree := bushy{c.Size, c.Root, max(2, radixOr(c, broadcastRadix))}
	hold := b.Flip(n)
	data, begun := b.Slots(1), b.Slots(tree.edges())
	from := b.In(me, 0, n)
	if me != c.Root {
		parent, edge := tree.parent(me)
		b.Signal(parent, begun+edge)
		from = hold.At(me, 0, n)
		b.Await(data)
	}
	var edges []int
	for child, edge := range tree.children(me) {
		deliver(b, hold.At(child, 0, n), from, data)
		edges = append(edges, edge)
	}
	if me != c.Root {
		b.Copy(b.Out(me, 0, n), from)
	}
	for _, edge := range edges {
		b.Await(begun + edge)
	}
}

// broadcastFlipFormula is the rounds of the tree. A run is separated from the next by the copy and
// by the news that it has begun.
func broadcastFlipFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	radix := max(2, radixOr(c, broadcastRadix))
	var stages []price.Stage
	for reach := 1; reach < c.Size; reach *= radix {
		children := float64(min(radix, (c.Size+reach-1)/reach) - 1)
		route := s.Group(reach, int(children)+1, 0)
		route.Out = route.Part * float64(min(reach, s.Most))
		stages = append(stages, price.Stage{
			Route: route, OneWay: true, Pairs: s.OnHost(float64(reach)), Busy: price.Leaving,
			Peers: children, From: 1, Elements: n, Apart: true,
		})
	}
	begun := oneHop(stages[0], 0)
	own := work(price.Local{Elements: n, Sources: 1})
	return price.Profile{Stages: append(stages, own), Flip: n, Again: []price.Stage{own, begun}}
}
