package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// scatterBinomial hands blocks down a binomial tree: each rank gets the blocks of
// its subtree as one piece and passes on those of its children. For small blocks.
//
// Cost: log P steps, rounded up; the blocks of its subtree but its own sent by each
// rank; twice the largest subtree's blocks of scratch, about half the vector each.
// Blocks go into memory that ranks use in turns. Each tells its parent that it has
// begun, and the parent does not end before it has heard that: so in the next run it
// knows that the child has finished the last run but one.
func scatterBinomial(b *schedule.Builder, c *schedule.Call) {
	me := b.Rank()
	tree, block := binomial{c.Size, c.Root}, blocksOf(c)
	hold := b.Flip(largestSubtree(tree, block))
	data, begun := b.Slots(1), b.Slots(tree.stages())
	own := b.In(me, block[me].Off, block[me].Len)
	if parent, ok := tree.parent(me); ok {
		own = hold.At(me, 0, block[me].Len)
		b.Signal(parent, begun+tree.level(me))
		b.Await(data)
	}
	children := tree.children(me)
	for k := len(children) - 1; k >= 0; k-- {
		child := children[k]
		to := block.ranges(child, tree.subtree(child))
		n := block.span(child, tree.subtree(child))
		if me == c.Root {
			deliverAll(b, child, pieces(hold.At(child, 0, n), to), regions(b.In, me, to), data)
		} else {
			deliver(b, hold.At(child, 0, n), hold.At(me, block.span(me, mod(child-me, c.Size)), n), data)
		}
	}
	b.Copy(b.Out(me, 0, own.Len), own)
	for k := range children {
		b.Await(begun + k)
	}
}

// scatterBinomialFormula is the levels of the tree, in each of which half as much is sent.
func scatterBinomialFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	levels := binomial{size: c.Size}.treeStages(s, false, 1, subtreeBlocks(c, n), noFold)
	for i := range levels {
		levels[i].Apart = true
	}
	own := work(price.Local{Elements: n, Sources: 1, Flip: 1})
	begun := oneHop(levels[0], 0)
	var again []price.Stage
	for _, g := range levels[1:] {
		again = append(again, only(price.Leaving, g))
	}
	return price.Profile{Stages: append(levels, own), Flip: n * float64(c.Size) / 2, Again: append(again, own, begun)}
}
