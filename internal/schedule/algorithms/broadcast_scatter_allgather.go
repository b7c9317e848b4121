package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// broadcastScatterAllGather cuts the vector into a chunk per rank, scatters the
// chunks down a binomial tree, and lets them go round a ring (van de Geijn; MPICH
// broadcasts large vectors so). A rank that handed down chunks of others has them
// already, and so they do not come round to it again: nothing is written twice, and
// nothing at all to the root.
//
// Cost: P-1 steps after the first credit, the tree's among them; 2n(P-1)/P elements
// sent by the root, less by others; no scratch. A rank's credits tell its parent and
// the rank before it that its result may be overwritten.
func broadcastScatterAllGather(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	tree := binomial{p, c.Root}
	ready, scattered := b.Slots(tree.stages()), b.Slots(1)
	free, passed := b.Slots(1), b.Slots(p-1)
	left, right := mod(me-1, p), mod(me+1, p)

	if parent, ok := tree.parent(me); ok {
		b.Signal(parent, ready+tree.level(me))
		b.Signal(left, free)
		b.Await(scattered)
	}
	children := tree.children(me)
	for k := len(children) - 1; k >= 0; k-- {
		first, n := tree.number(children[k]), tree.subtree(children[k])
		part := schedule.Chunk(c.Count, p, first)
		for i := 1; i < n; i++ {
			part.Len += schedule.Chunk(c.Count, p, first+i).Len
		}
		b.Await(ready + k)
		b.Put(b.Out(children[k], part.Off, part.Len), b.Out(me, part.Off, part.Len), scattered)
	}

	if right != c.Root {
		b.Await(free)
	}
	for k := range p - 1 {
		if i := mod(tree.number(me)-k, p); !tree.scatters(right, i) {
			send := schedule.Chunk(c.Count, p, i)
			b.Put(b.Out(right, send.Off, send.Len), b.Out(me, send.Off, send.Len), passed+k)
		}
		if i := mod(tree.number(me)-k-1, p); !tree.scatters(me, i) {
			b.Await(passed + k)
		}
	}
}

// scatters reports whether the chunk of the rank with that number comes to a rank
// down the tree: whether it is in the rank's subtree.
func (t binomial) scatters(rank, number int) bool {
	first := t.number(rank)
	return first <= number && number < first+t.subtree(rank)
}

// broadcastScatterAllGatherFormula is the levels of the tree and the steps of the ring by which the mean rank gets the
// chunks that did not come down the tree. The root sends in all steps. It begins again when its farthest child has the
// last chunk: all come from the root, one behind the other, and hop as far.
func broadcastScatterAllGatherFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	tree := binomial{size: c.Size}
	chunks := func(distance int) float64 { return float64(min(distance, c.Size-distance)) }
	levels := tree.treeStages(s, false, 1, func(distance int) float64 { return n * chunks(distance) / p }, noFold)
	credit, scattered := oneHop(levels[0], 0), 0.0 // chunks
	for k := range tree.stages() {
		scattered += float64(tree.edges(k)) * chunks(1<<k)
	}
	turns := 0.0
	if s.Nodes == 1 {
		turns = 0.2 // most of what is to come round is there when a rank has its core again
	}
	ring := func(times float64) price.Stage {
		return price.Stage{Times: times, Route: s.Ring(1), Peers: 1, Elements: n / p, Turns: turns}
	}
	root := only(price.Leaving, ring(scattered/p))
	root.Pairs, root.Turns, root.OneWay, root.Busy = 1, -1, true, price.Leaving
	again := []price.Stage{credit}
	for _, g := range levels {
		again = append(again, only(price.Leaving, g))
	}
	farthest := float64(int(1) << (tree.stages() - 1))
	again = append(again, ring(farthest), only(price.Leaving, ring(p-1-farthest)))
	return price.Profile{Stages: append(slices.Insert(levels, 0, credit), ring(p-1-scattered/p), root), Again: again}
}
