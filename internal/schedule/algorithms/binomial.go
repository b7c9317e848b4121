package algorithms

import (
	"math/bits"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// A binomial tree spans ranks 0 to size-1 from any root. Ranks are numbered from
// the root on, around the ring; the parent of a number is the number without its
// lowest bit. So a subtree is a range of consecutive numbers, and the first n
// numbers are the binomial tree of n ranks, whatever n is.
type binomial struct{ size, root int }

// number is the position of a rank, 0 for the root.
func (t binomial) number(rank int) int { return mod(rank-t.root, t.size) }

// rank is who has that number.
func (t binomial) rank(number int) int { return mod(number+t.root, t.size) }

// stages is the steps of a broadcast or a reduction: the logarithm of the size,
// rounded up.
func (t binomial) stages() int { return log2up(t.size) }

// parent is the parent of a rank; the root has none.
func (t binomial) parent(rank int) (int, bool) {
	v := t.number(rank)
	return t.rank(v & (v - 1)), v != 0
}

// level is the logarithm of the distance of a rank from its parent: the stage, from
// 0, in which a reduction sends to it. The root's level is stages().
func (t binomial) level(rank int) int {
	if v := t.number(rank); v != 0 {
		return bits.TrailingZeros(uint(v))
	}
	return t.stages()
}

// children are the children of a rank, the nearest first: the order in which a
// reduction hears of them; a broadcast sends to the last first. The k-th is at
// distance 2^k, so its level is k.
func (t binomial) children(rank int) []int {
	v := t.number(rank)
	var all []int
	for k := range t.level(rank) {
		if v+1<<k < t.size {
			all = append(all, t.rank(v+1<<k))
		}
	}
	return all
}

// subtree is how many ranks the subtree of a rank has: those whose numbers follow
// its own.
func (t binomial) subtree(rank int) int {
	return min(1<<t.level(rank), t.size-t.number(rank))
}

// log2up is the logarithm of n to base 2, rounded up.
func log2up(n int) int { return bits.Len(uint(n - 1)) }

// log2down is the logarithm of n to base 2, rounded down.
func log2down(n int) int { return bits.Len(uint(n)) - 1 }

// edges is how many ranks have a parent at distance 1<<k.
func (t binomial) edges(k int) int { return (t.size - 1<<k + 2<<k - 1) / (2 << k) }

// treeStages are the levels of the tree, away from the root or towards it. Along an edge at a
// distance go so many elements, with which fold is done, and so many signals in the other direction.
func (t binomial) treeStages(s *price.Topology, up bool, credits float64, elements func(distance int) float64, fold func(n float64) price.Local) []price.Stage {
	var all []price.Stage
	for k := t.stages() - 1; k >= 0; k-- {
		edges, n := t.edges(k), elements(1<<k)
		route, onPath := s.Tree(price.Lowest, 2, k)
		g := price.Stage{Route: route, Pairs: s.OnHost(float64(edges)), OneWay: true, Peers: 1, Elements: n, Fold: fold(n), Credits: credits}
		if g.Busy = price.Leaving; up {
			g.Busy = price.Arrival
		}
		if !onPath {
			g.Only, g.Late = g.Busy, up && log2up(t.size-1<<k) == k-1 // a child with half a subtree sends when the one before it does
		}
		all = append(all, g)
	}
	if up {
		slices.Reverse(all)
	}
	return all
}

// noFold is a fold of nothing.
func noFold(float64) price.Local { return price.Local{} }

// foldOne is the fold of what has arrived with what was there.
func foldOne(n float64) price.Local { return price.Local{Elements: n, Sources: 2, Scratch: 1} }

// always is the same number of elements for all edges of a tree.
func always(n float64) func(int) float64 { return func(int) float64 { return n } }
