package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allReduceBinomial is BIN of the paper on pipelined allreduce (Section 3.1): a
// reduction along a binomial tree to rank 0 and a broadcast along the same tree.
//
// Cost: 2 log P steps; the root receives and sends n log P elements each and
// combines as many; n log P elements of scratch. Subtrees are consecutive ranks, so
// their order is kept. Credits are not needed: a rank hears the result from its
// parent when that has folded what it sent, and the parent writes into a result
// whose owner has sent its part.
func allReduceBinomial(b *schedule.Builder, c *schedule.Call) {
	me, n := b.Rank(), c.Count
	tree := binomial{size: c.Size}
	stride := b.RoundUp(n)
	arrived := b.Scratch(tree.stages() * stride)
	up, down := b.Slots(tree.stages()), b.Slots(1)
	part, out := b.In(me, 0, n), b.Out(me, 0, n)
	children := tree.children(me)
	for k := range children {
		b.Await(up + k)
		b.Combine(out, part, arrived.At(me, k*stride, n))
		part = out
	}
	if parent, ok := tree.parent(me); ok {
		k := tree.level(me)
		b.Put(arrived.At(parent, k*stride, n), part, up+k)
		b.Await(down)
	} else {
		b.Copy(out, part)
	}
	for _, child := range slices.Backward(children) {
		b.Put(b.Out(child, 0, n), out, down)
	}
}

// allReduceBinomialFormula is the tree up and down.
func allReduceBinomialFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	tree := binomial{size: c.Size}
	stages := tree.treeStages(s, true, 0, always(n), foldOne)
	stages = append(stages, tree.treeStages(s, false, 0, always(n), noFold)...)
	return price.Profile{Stages: stages, Scratch: n * float64(tree.stages())}
}
