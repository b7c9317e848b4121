package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// eagerRadix is one more than the ranks that a rank writes to in one round, or hears from.
// Ranks that share cores pay a turn of the scheduler for each round, so that few
// rounds are worth many messages; it is the radix of the runtime's own barrier.
const eagerRadix = 16

// eagerRadices are of more rounds, for messages that cost more than a turn.
var eagerRadices = []int{2, 4}

// eagerTurns is how often a rank gives its core away for a vector in eager memory that comes down a tree of a radix: who
// comes after its parent finds it there.
func eagerTurns(radix int) float64 { return 0.5 / float64(radix) }

// broadcastEager is for short vectors: they go down a tree of high radix, through eager
// memory, and are copied to the result there.
//
// Cost: log P steps to the base of the radix, rounded up, 1 for up to 16 ranks; the
// root sends n elements 15 times in each; n elements of scratch, and n of eager memory in
// each copy. A rank gives its parent credits when it has copied and passed on what it got, so
// that only copies keep the root from the next run.
func broadcastEager(b *schedule.Builder, c *schedule.Call) {
	me, n := b.Rank(), c.Count
	tree := bushy{c.Size, c.Root, baseOr(c, eagerRadix)}
	given, hold := b.Scratch(n), b.Eager(n)
	data, credit := b.EagerSlots(1), b.Slots(tree.edges())
	from := given.At(me, 0, n)
	if me != c.Root {
		from = hold.At(me, 0, n)
		parent, _ := tree.parent(me)
		b.AwaitApart(parent, data, from)
	} else if c.Size > 1 {
		b.Copy(from, b.In(me, 0, n))
	}
	for child, edge := range tree.children(me) {
		b.AwaitCredit(credit + edge)
		b.PutApart(hold.At(child, 0, n), from, data)
	}
	if me != c.Root {
		parent, edge := tree.parent(me)
		b.Copy(b.Out(me, 0, n), from)
		b.Credit(parent, credit+edge)
	}
}

// broadcastEagerFormula is the rounds of the tree. Runs follow each other as fast as the busiest
// rank sends.
func broadcastEagerFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	radix := baseOr(c, eagerRadix)
	stages := []price.Stage{{Copy: price.Local{Elements: n, Sources: 1, Scratch: 1}, Pairs: 1, OneWay: true, Turns: -1, Spared: true}}
	for reach := 1; reach < c.Size; reach *= radix {
		children := float64(min(radix, (c.Size+reach-1)/reach) - 1)
		parents := float64(min(reach*radix, c.Size)-reach) / children // as if each had as many
		route, onPath := s.Tree(price.Highest, radix, len(stages)-1)
		route.Out, route.Spare = route.Out/children, route.Spare/children
		g := price.Stage{
			Route: route, OneWay: true, Pairs: s.OnHost(parents), Busy: price.Leaving,
			Peers: children, From: 1, Elements: n, Turns: eagerTurns(radix),
		}
		if !onPath {
			g.Only = g.Busy
		}
		stages = append(stages, g)
	}
	own := work(price.Local{Elements: n, Sources: 1})
	own.Busy, own.OneWay = price.Neither, true
	return price.Profile{Stages: append(stages, own), Scratch: n, Eager: n, EagerSlots: 1, Again: []price.Stage{}}
}
