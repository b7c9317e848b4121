package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// scatterBinomial hands blocks down a binomial tree: each rank gets the blocks of
// its subtree as one piece and passes on those of its children. For small blocks.
//
// Cost: log P steps, rounded up; the blocks of its subtree but its own sent by each
// rank; the vector of scratch, and in each copy of eager memory the largest subtree's blocks,
// about half of it. A rank gives its parent credits when it has passed on what it got, so that
// only copies keep the root from the next run.
func scatterBinomial(b *schedule.Builder, c *schedule.Call) {
	me := b.Rank()
	tree, block := binomial{c.Size, c.Root}, blocksOf(c)
	given, hold := b.Scratch(block.span(0, c.Size)), b.Eager(largestSubtree(tree, block))
	data, credit := b.EagerSlots(1), b.Slots(tree.stages())
	own := b.In(me, block[me].Off, block[me].Len)
	if me != c.Root {
		own = hold.At(me, 0, block[me].Len)
		b.Await(data)
	}
	packed := 0
	for k, child := range slices.Backward(tree.children(me)) {
		n := block.span(child, tree.subtree(child))
		part := given.At(me, packed, n)
		if me == c.Root {
			to := block.ranges(child, tree.subtree(child))
			copyAll(b, pieces(part, to), regions(b.In, me, to))
			packed += n
		} else {
			part = hold.At(me, block.span(me, mod(child-me, c.Size)), n)
		}
		b.AwaitCredit(credit + k)
		b.Put(hold.At(child, 0, n), part, data)
	}
	b.Copy(b.Out(me, 0, own.Len), own)
	if parent, ok := tree.parent(me); ok {
		b.Credit(parent, credit+tree.level(me))
	}
}

// scatterBinomialFormula is the root's copies and the levels of the tree, in each of which half as
// much is sent. Runs follow each other as fast as the root sends.
func scatterBinomialFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	levels := binomial{size: c.Size}.treeStages(s, false, 0, subtreeBlocks(c, n), noFold)
	for i := range levels {
		levels[i].Turns = eagerTurns(2)
	}
	pack := price.Stage{Pairs: 1, OneWay: true, Busy: price.Leaving, Turns: -1}
	pack.Copy = price.Local{Elements: n * (p - 1), Sources: 1, Scratch: 1}
	own := work(price.Local{Elements: n, Sources: 1})
	return price.Profile{
		Stages: append(slices.Insert(levels, 0, pack), own), Scratch: n * p, Eager: mostBelow(c, n), EagerSlots: 1, Again: []price.Stage{},
	}
}
