package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// gatherBinomial collects blocks up a binomial tree: each rank waits for the
// subtrees of its children and sends its own as one piece. For small blocks.
//
// Cost: log P steps, rounded up; the blocks of its subtree sent by each rank; twice the
// largest subtree's blocks of scratch, about half the vector each. The root's credit
// says that its result may be overwritten, and is there before all but the smallest
// subtrees are. Other ranks write into memory that their parent uses in turns: that
// the parent has begun this run, for which they wait when they have written, lets them
// write in the next.
func gatherBinomial(b *schedule.Builder, c *schedule.Call) {
	me := b.Rank()
	tree, block := binomial{c.Size, c.Root}, blocksOf(c)
	hold := b.Flip(largestSubtree(tree, block))
	begun, data := b.Slots(1), b.Slots(tree.stages())
	children := tree.children(me)
	for k := len(children) - 1; k >= 0; k-- {
		b.Signal(children[k], begun)
	}

	own, all := block[me].Len, block.span(me, tree.subtree(me))
	from := b.In(me, 0, own)
	switch {
	case me == c.Root:
		b.Copy(b.Out(me, block[me].Off, own), from)
	case len(children) > 0:
		from = hold.At(me, 0, all)
		b.Copy(from.Part(0, own), b.In(me, 0, own))
	}
	for k := range children {
		b.Await(data + k)
	}

	parent, ok := tree.parent(me)
	slot := data + tree.level(me)
	switch {
	case !ok:
	case parent == c.Root:
		b.Await(begun)
		to := block.ranges(me, tree.subtree(me))
		putAll(b, parent, regions(b.Out, parent, to), pieces(from, to), slot)
	default:
		deliver(b, hold.At(parent, block.span(parent, mod(me-parent, c.Size)), all), from, slot)
		b.Await(begun)
	}
}

// largestSubtree is the elements of the blocks of that subtree, the root's apart,
// which has most.
func largestSubtree(tree binomial, block blocks) int {
	most := 0
	for r := range tree.size {
		if r != tree.root {
			most = max(most, block.span(r, tree.subtree(r)))
		}
	}
	return most
}
