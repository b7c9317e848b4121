package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// broadcastCoded sends the coded form of the vector down a binomial tree: the root
// codes it once, and ranks hand on what they got before they decode it. The root, too,
// goes on with what it decodes, so that all ranks end with the same bits, whatever
// coding changes.
//
// Cost: log P steps after the first credit, rounded up; n log P elements sent in coded
// form by the root, n(P-1) by all; n encoded by the root and n decoded by each rank; n
// elements of scratch and a header. A child's credit says that it has decoded what it
// got before.
func broadcastCoded(b *schedule.Builder, c *schedule.Call) {
	tree := binomial{c.Size, c.Root}
	parent, _ := tree.parent(b.Rank())
	children := tree.children(b.Rank())
	slices.Reverse(children) // the largest subtree first
	handDown(b, c, treePlace{parent, children, tree.level, tree.stages()})
}

// broadcastCodedChain hands the coded form on from rank to rank, for large vectors
// that schedule.Pipeline cuts; see broadcastChain.
//
// Cost: P-1 steps, and one more for each further segment under way; n elements sent
// in coded form by each rank but the last; n encoded by the root and n decoded by each
// rank; scratch and credits as in broadcastCoded.
func broadcastCodedChain(b *schedule.Builder, c *schedule.Call) {
	f := treePlace{parent: mod(b.Rank()-1, c.Size), level: func(int) int { return 0 }, levels: 1}
	if right := mod(b.Rank()+1, c.Size); right != c.Root {
		f.children = []int{right}
	}
	handDown(b, c, f)
}

// A treePlace is a rank's place in a tree. Children differ in their levels, of which
// there are so many.
type treePlace struct {
	parent   int // not of the root
	children []int
	level    func(rank int) int
	levels   int
}

// handDown broadcasts a coded form down a tree. The credit of a child arrives in the
// slot of its level.
func handDown(b *schedule.Builder, c *schedule.Call, f treePlace) {
	me, n := b.Rank(), c.Count
	if c.Size == 1 {
		return
	}
	size := schedule.CodedLen(n, b.Line())
	form := b.Scratch(size)
	ready, data := b.Slots(f.levels), b.Slots(1)
	if me == c.Root {
		b.Encode(form.At(me, 0, size), b.In(me, 0, n))
	} else {
		b.Signal(f.parent, ready+f.level(me))
		b.Await(data)
	}
	for _, child := range f.children {
		b.Await(ready + f.level(child))
		b.Put(form.At(child, 0, size), form.At(me, 0, size), data)
	}
	b.Decode(b.Out(me, 0, n), form.At(me, 0, size))
}

// broadcastCodedFormula is the levels of the tree between coding and decoding.
func broadcastCodedFormula(s *price.Topology, c *schedule.Call) price.Profile {
	return codedBetween(c, broadcastBinomialFormula(s, c))
}

// broadcastCodedChainFormula is the chain between coding and decoding.
func broadcastCodedChainFormula(s *price.Topology, c *schedule.Call) price.Profile {
	return codedBetween(c, broadcastChainFormula(s, c))
}

// codedBetween codes what goes down a tree.
func codedBetween(c *schedule.Call, p price.Profile) price.Profile {
	n := float64(c.Count)
	code := price.Stage{Coded: n, Codes: 1, Turns: -1}
	stages := []price.Stage{code}
	for _, g := range p.Stages {
		g.Compressed = true
		stages = append(stages, g)
	}
	again := []price.Stage{code}
	for _, g := range p.Again {
		g.Compressed = true
		again = append(again, g)
	}
	return price.Profile{Stages: append(stages, code), Again: again, Scratch: n}
}
