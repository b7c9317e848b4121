package algorithms

import "iter"

// A bushy tree spans ranks 0 to size-1 from any root in rounds: after each there are
// radix times as many ranks in it, since each of those that were in it has got
// radix-1 more children. Of radix 2 it is a binomial tree. Ranks are numbered from
// the root on, around the ring; the parent of a number is the number without its
// leading digit to base radix.
type bushy struct{ size, root, radix int }

// edges is how many children a rank has at most. The edges to them are numbered
// from 0.
func (t bushy) edges() int {
	n := 0
	for reach := 1; reach < t.size; reach *= t.radix {
		n += t.radix - 1
	}
	return n
}

// parent is the parent of a rank other than the root, and the number of the edge
// between them.
func (t bushy) parent(rank int) (parent, edge int) {
	v, reach := mod(rank-t.root, t.size), 1
	for v >= reach*t.radix {
		reach *= t.radix
		edge += t.radix - 1
	}
	return mod(v%reach+t.root, t.size), edge + v/reach - 1
}

// children are the children of a rank and the numbers of the edges to them, those
// with the largest subtrees first.
func (t bushy) children(rank int) iter.Seq2[int, int] {
	return func(yield func(child, edge int) bool) {
		v, edge := mod(rank-t.root, t.size), 0
		for reach := 1; reach < t.size; reach *= t.radix {
			for digit := 1; digit < t.radix; digit++ {
				child := v + digit*reach
				if v < reach && child < t.size && !yield(mod(child+t.root, t.size), edge) {
					return
				}
				edge++
			}
		}
	}
}
