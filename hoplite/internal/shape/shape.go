// Package shape lays the sources of a reduction over a tree: which position sends to which, and
// how long that takes. It knows neither ranks nor objects.
package shape

import "math"

// A Shape is how a reduction is laid over the ranks of its sources.
type Shape uint8

const (
	// Auto takes the shape that the model of Links predicts to be fastest.
	Auto Shape = iota
	// Chain is one chain in order of arrival, section 4.3 of the paper.
	Chain
	// Grid is chains of about the square root of the sources, and a chain of their ends.
	Grid
	// Tree is a binary tree with chains for leaves, filled in order of arrival.
	Tree
)

// Links is what was measured between two ranks. The zero value stands for links
// without latency, where chains always win.
type Links struct {
	// Bandwidth is in bytes per second. Zero means unlimited. Too high makes trees
	// of big objects, too low makes chains of small ones.
	Bandwidth float64
	// Latency is of one message, in seconds. Too high makes trees of big objects.
	Latency float64
}

// Positions are places 0, 1, 2, ... in a tree whose root is the caller. They are
// filled in order of arrival; parent[i] is the position that position i sends to, or
// len(parent) for the caller. A position's children come before it as far as can be, so
// that what has arrived can be folded while the rest is awaited.
type Positions struct{ parent []int }

// Up is the parent of a position. Positions beyond these send to the caller.
func (p Positions) Up(i int) int {
	if i < len(p.parent) {
		return p.parent[i]
	}
	return math.MaxInt
}

// Len is the number of positions.
func (p Positions) Len() int { return len(p.parent) }

// New lays count positions for objects of size bytes.
func New(shape Shape, links Links, count int, size int64) Positions {
	if shape == Auto {
		var best float64
		shape = Chain
		for i, s := range []Shape{Chain, Grid, Tree} {
			if t := layOut(s, links, count, size).cost(links, size); i == 0 || t < best {
				shape, best = s, t
			}
		}
	}
	return layOut(shape, links, count, size)
}

func layOut(shape Shape, links Links, count int, size int64) Positions {
	p := Positions{make([]int, count)}
	switch shape {
	case Grid:
		p.grid(count)
	case Tree:
		var best float64
		trial := Positions{make([]int, count)}
		for depth := 0; depth == 0 || 1<<depth <= count; depth++ {
			trial.tree(0, count, depth, math.MaxInt)
			if t := trial.cost(links, size); depth == 0 || t < best {
				best = t
				copy(p.parent, trial.parent)
			}
		}
	default:
		p.chain(0, count, math.MaxInt)
	}
	return p
}

// chain lays n positions from first on one behind the other; the last sends to up.
func (p Positions) chain(first, n, up int) {
	for i := range n {
		p.parent[first+i] = first + i + 1
	}
	if n > 0 {
		p.parent[first+n-1] = up
	}
}

// grid makes chains of about the square root, and a chain of their ends: the paper's
// two-dimensional chain.
func (p Positions) grid(count int) {
	width := int(math.Ceil(math.Sqrt(float64(count))))
	for first := 0; first < count; first += width {
		n := min(width, count-first)
		up := min(first+2*width, count) - 1
		if up == first+n-1 {
			up = math.MaxInt
		}
		p.chain(first, n, up)
	}
}

// tree lays n positions as two sides below the caller, numbered from left to right: when
// a node arrives, its left side is there already. Leaves are chains. Depth 0 is one chain.
func (p Positions) tree(first, n, depth, up int) {
	if depth == 0 {
		p.chain(first, n, up)
		return
	}
	left := (n + 1) / 2
	p.side(first, left, depth-1, up)
	p.side(first+left, n-left, depth-1, up)
}

// side lays n positions below up: a node and its two sides.
func (p Positions) side(first, n, depth, up int) {
	if depth == 0 || n < 3 {
		p.chain(first, n, up)
		return
	}
	left := n / 2
	p.parent[first+left] = up
	p.side(first, left, depth-1, first+left)
	p.side(first+left+1, n-left-1, depth-1, first+left)
}

// cost is the time in seconds that a reduction takes if everything is there: a stream through
// as many links as the longest way has, at the pace of the rank that receives most.
func (p Positions) cost(links Links, size int64) float64 {
	inputs := map[int]int{}
	most, longest := 1, 0
	for i := range p.parent {
		steps := 1
		for j := p.Up(i); j != math.MaxInt; j = p.Up(j) {
			steps++
		}
		longest = max(longest, steps)
		inputs[p.Up(i)]++
		most = max(most, inputs[p.Up(i)])
	}
	t := float64(longest) * links.Latency
	if links.Bandwidth > 0 {
		t += float64(most) * float64(size) / links.Bandwidth
	} else {
		t += float64(most) // any input beyond one is too many
	}
	return t
}
