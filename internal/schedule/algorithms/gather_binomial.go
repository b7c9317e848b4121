package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

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

// gatherBinomialFormula is the levels of the tree, in each of which twice as much is sent. A rank
// begins again when it has sent.
func gatherBinomialFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	levels := binomial{size: c.Size}.treeStages(s, true, 0, subtreeBlocks(c, n), noFold)
	again := againUp(levels)
	begun := levels[len(levels)-1]
	begun.Peers, begun.From, begun.Elements, begun.Busy, begun.Only = float64(len(levels)), 1, 0, price.Leaving, price.Leaving
	heard := price.Stage{Route: s.Ring(1), OneWay: true, Peers: 1, Busy: price.Neither, Only: price.Neither, Turns: -1}
	late := only(price.Leaving, oneHop(levels[len(levels)-1], subtreeBlocks(c, n)((c.Size+3)/4)))
	late.Elsewhere, late.Turns = true, -1 // short messages of the next run go before the long ones of this
	levels = append(levels, late)
	own := work(price.Local{Elements: n, Sources: 1}) // of those that have children; of two ranks only the root has
	own.Pairs, own.OneWay = s.OnHost(float64(c.Size/2)), true
	if c.Size == 2 {
		own.Only = price.Neither
	}
	return price.Profile{Stages: slices.Insert(levels, 0, begun, heard, own), Flip: mostBelow(c, n), Again: again}
}

// subtreeBlocks is the elements of the blocks of a subtree at a distance from the root.
func subtreeBlocks(c *schedule.Call, n float64) func(int) float64 {
	return func(distance int) float64 { return n * float64(min(distance, c.Size-distance)) }
}

// mostBelow is the elements of the blocks of the largest subtree, as largestSubtree: that of the child furthest from
// the root or, if few ranks are behind that one, of the next.
func mostBelow(c *schedule.Call, n float64) float64 {
	below := subtreeBlocks(c, n)
	furthest := 1 << log2up(c.Size) / 2
	return max(below(furthest), below(furthest/2))
}

// againUp is what separates two runs up a tree: the rank with the largest subtree hears that the
// root has begun, and sends.
func againUp(levels []price.Stage) []price.Stage {
	last := levels[len(levels)-1]
	return []price.Stage{oneHop(last, 0), only(price.Both, last)}
}
