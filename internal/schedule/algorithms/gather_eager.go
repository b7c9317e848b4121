package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// gatherEager is gatherBinomial through eager memory, for tiny blocks: the root, too, copies what it
// gets to its result, so that nobody waits for it.
//
// Cost: log P steps, rounded up; the blocks of its subtree sent by each rank; all blocks copied by
// the root; the vector of eager memory in each copy. A rank gives its children credits when it has
// passed on, or copied, what they sent, so that only copies keep them from the next run.
func gatherEager(b *schedule.Builder, c *schedule.Call) {
	me := b.Rank()
	tree, block := binomial{c.Size, c.Root}, blocksOf(c)
	hold := b.Eager(block.span(0, c.Size))
	data, credit := b.EagerSlots(tree.stages()), b.Slots(1)
	children, own := tree.children(me), b.In(me, 0, block[me].Len)
	parent, below := tree.parent(me)
	if below {
		b.Copy(hold.At(me, 0, own.Len), own)
	} else {
		b.Copy(b.Out(me, block[me].Off, own.Len), own)
	}
	for k := range children {
		b.Await(data + k)
	}
	if below {
		all := block.span(me, tree.subtree(me))
		b.AwaitCredit(credit)
		b.Put(hold.At(parent, block.span(parent, mod(me-parent, c.Size)), all), hold.At(me, 0, all), data+tree.level(me))
	} else {
		from := block.ranges(me+1, c.Size-1)
		copyAll(b, regions(b.Out, me, from), pieces(hold.At(me, own.Len, block.span(me+1, c.Size-1)), from))
	}
	for _, child := range children {
		b.Credit(child, credit)
	}
}

// gatherEagerFormula is the levels of the tree, in each of which twice as much is sent, and the root's
// copies. Runs follow each other as fast as the root takes what it gets.
func gatherEagerFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	own := work(price.Local{Elements: n, Sources: 1}) // the root's is beside that of who sends
	kept := own
	own.OneWay, own.Busy, own.Spared = true, price.Neither, true
	kept.OneWay, kept.Busy, kept.Only, kept.Pairs = true, price.Arrival, price.Neither, 1
	levels := binomial{size: c.Size}.treeStages(s, true, 0, subtreeBlocks(c, n), noFold)
	for i := range levels {
		levels[i].Turns = 0.5 // of half of all ranks, those that have children
	}
	unpack := price.Stage{Pairs: 1, OneWay: true, Busy: price.Arrival, Turns: -1, Copy: price.Local{Elements: n * (p - 1), Sources: 1}}
	stages := append([]price.Stage{own, kept}, levels...)
	return price.Profile{Stages: append(stages, unpack), Eager: n * p, EagerSlots: float64(len(levels)), Again: []price.Stage{}, Between: true}
}
