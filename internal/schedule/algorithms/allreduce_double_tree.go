package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allReduceDoubleTree sends half of the vector up and down one binary tree and the
// other half along another, at the same time. Inner nodes of the first tree are odd
// ranks and of the second even ones, so that no rank has the work of an inner node
// twice: Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth
// broadcast, reduction and scan" (2009). A leaf sends first and receives last, so
// that a rank does all of it in one lane without holding up either tree.
//
// Cost: about 2 log P steps of n/2 elements; a rank sends at most 2n elements and
// combines n; n elements of scratch. Both trees are in the order of ranks, which is
// kept. Credits are not needed: a rank hears the result from its parent when that has
// folded what it sent, and the parent writes into a result whose owner has sent its
// part.
func allReduceDoubleTree(b *schedule.Builder, c *schedule.Call) {
	stride := b.RoundUp(schedule.Chunk(c.Count, 2, 0).Len)
	arrived := b.Scratch(2 * stride) // of the tree where the rank is an inner node
	slot := b.Slots(2 * 3)
	var trees [2]halfTree
	for i := range trees {
		trees[i] = halfTree{
			Range: schedule.Chunk(c.Count, 2, i), node: findInTree(c.Size, 1-i, b.Rank()),
			arrived: arrived, stride: stride, left: slot + 3*i, right: slot + 3*i + 1, down: slot + 3*i + 2,
		}
	}
	inner := 1 - b.Rank()%2
	for _, i := range []int{1 - inner, inner} {
		trees[i].up(b)
	}
	for _, i := range []int{inner, 1 - inner} {
		trees[i].back(b)
	}
}

// A halfTree is half of the vector and a rank's place in its tree.
type halfTree struct {
	schedule.Range
	node              treeNode
	arrived           schedule.Memory
	stride            int
	left, right, down int // slots: of the children at their parent, of the parent
}

// up folds what the children have and sends it to the parent.
func (t *halfTree) up(b *schedule.Builder) {
	me := b.Rank()
	part := b.In(me, t.Off, t.Len)
	from := []schedule.Region{part}
	if t.node.left >= 0 {
		b.Await(t.left)
		from = []schedule.Region{t.arrived.At(me, 0, t.Len), part}
	}
	if t.node.right >= 0 {
		b.Await(t.right)
		from = append(from, t.arrived.At(me, t.stride, t.Len))
	}
	if len(from) > 1 || t.node.parent < 0 {
		part = b.Out(me, t.Off, t.Len)
		b.Combine(part, from...)
	}
	switch {
	case t.node.parent > me:
		b.Put(t.arrived.At(t.node.parent, 0, t.Len), part, t.left)
	case t.node.parent >= 0:
		b.Put(t.arrived.At(t.node.parent, t.stride, t.Len), part, t.right)
	}
}

// back hands the result to the children once it is there.
func (t *halfTree) back(b *schedule.Builder) {
	if t.node.parent >= 0 {
		b.Await(t.down)
	}
	for _, child := range []int{t.node.left, t.node.right} {
		if child >= 0 {
			b.Put(b.Out(child, t.Off, t.Len), b.Out(b.Rank(), t.Off, t.Len), t.down)
		}
	}
}

// A treeNode is a rank's place in a binary tree; -1 is nobody.
type treeNode struct{ parent, left, right int }

// heightOfTree is the most edges between the root and a leaf of either tree.
func heightOfTree(size int) int {
	height := 0
	for parity := range 2 {
		edges := 0
		for lo, hi := 0, size; ; edges++ {
			root := middle(lo, hi, parity)
			if hi-lo < 2 {
				break
			}
			if root-lo > hi-root-1 {
				hi = root
			} else {
				lo = root + 1
			}
		}
		height = max(height, edges)
	}
	return height
}

// findInTree is the place of a rank in the binary tree over size ranks, in order,
// whose inner nodes all have the parity.
func findInTree(size, parity, rank int) treeNode {
	lo, hi, parent := 0, size, -1
	for {
		root := middle(lo, hi, parity)
		switch {
		case rank < root:
			hi = root
		case rank > root:
			lo = root + 1
		default:
			return treeNode{parent, middle(lo, rank, parity), middle(rank+1, hi, parity)}
		}
		parent = root
	}
}

// middle is the root of the tree over ranks lo to hi-1: of those with the parity
// one in the middle, or the only one there is, or -1.
func middle(lo, hi, parity int) int {
	mid := (lo + hi - 1) / 2
	switch {
	case lo == hi:
		return -1
	case mid%2 == parity || hi-lo == 1:
		return mid
	case mid+1 < hi:
		return mid + 1
	}
	return mid - 1
}

// allReduceDoubleTreeFormula is the way from a leaf to the root and back, with two children at
// each inner node but the lowest. A rank is an inner node of one tree and a leaf of the other.
func allReduceDoubleTreeFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	height, outside := heightOfTree(c.Size), log2up(s.Nodes)
	var stages []price.Stage
	for k := range height {
		children := 2.0
		if k == 0 || c.Size == 3 {
			children = 1
		}
		var route price.Route
		if k >= height-outside { // subtrees are consecutive ranks, and so mostly of one node
			route = price.Route{Far: 1, Part: 1, Most: 1, Out: 1}
		}
		stages = append(stages, price.Stage{
			Route: route, Elsewhere: true, OneWay: true, Pairs: 1, Peers: 1, Elements: n / 2,
			Fold: price.Local{Elements: n / 2, Sources: children + 1, Scratch: children},
		})
	}
	for _, g := range slices.Backward(stages) {
		g.Peers, g.From = g.Fold.Scratch, 1
		g.Fold = price.Local{}
		stages = append(stages, g)
	}
	whole := price.Stage{
		Route: s.Ring(1), Only: price.Neither, Peers: 4, Elements: n / 2, Turns: 2.5, // of its children and its parents most have come before it has its core again
		Fold: price.Local{Elements: n / 2, Sources: 3, Scratch: 2},
	}
	if s.Most > 1 {
		whole.Route.Out *= 2 // as a node has edges of both trees
	}
	stages = append(stages, whole)
	return price.Profile{Stages: stages, Scratch: n}
}
