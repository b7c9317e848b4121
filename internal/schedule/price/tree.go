package price

import "iter"

// A Digit says which digit of a rank's number its parent in a tree from rank 0 on lacks.
type Digit uint8

// The digits that trees lack: the lowest that is not 0, or the highest.
const (
	Lowest Digit = iota
	Highest
)

// Tree is the route of level k of a tree from rank 0 on, whose edges are the digits k of numbers to base radix,
// and whether the longest path has an edge there. A rank's parent lacks that digit. Out is of all edges.
func (s *Topology) Tree(without Digit, radix, k int) (route Route, onPath bool) {
	t := s.tree(without, radix)
	l := &t.levels[k]
	if l.far > 0 {
		route = Route{Far: 1, Part: float64(l.far) / float64(l.edges), Most: 1, Out: float64(l.most), Spare: float64(l.most - l.busiest)}
	}
	r := t.deepest // ranks of its path have digits of it, and zeros
	if without == Lowest {
		r -= r % l.weight
	} else {
		r %= l.weight * radix
	}
	digit := r / l.weight % radix
	route.Host = s.ofNode(r - digit*l.weight)
	if digit == 0 {
		return route, false
	}
	if s.node[r] == s.node[r-digit*l.weight] {
		route.Far = 0
	}
	return route, true
}

// ofNode is how many ranks share the node of a rank, and its host; 0 if as many as on the largest, or if hosts are not nodes.
func (s *Topology) ofNode(rank int) float64 {
	if s.Host != s.Most || s.Most == s.Least {
		return 0
	}
	return float64(s.sizes[s.node[rank]])
}

// A treeKey is a tree.
type treeKey struct {
	without Digit
	radix   int
}

// A rankTree is its levels and the rank at the end of its longest path.
type rankTree struct {
	without Digit
	radix   int
	levels  []level
	deepest int
}

// A level is the edges of a level of a tree.
type level struct {
	weight, edges int
	far           int // between nodes
	most, busiest int // of those that end at a node, at most, and of parents of the node that has most of them in all levels
}

// edges are both ends of the edges of a level.
func (t *rankTree) edges(l *level, ranks int) iter.Seq2[int, int] {
	step, row := l.weight*t.radix, 1
	if t.without == Highest {
		step, row = ranks, l.weight
	}
	return func(yield func(r, up int) bool) {
		for base := 0; base < ranks; base += step {
			for first := base + l.weight; first < min(ranks, base+l.weight*t.radix); first += l.weight {
				for i := range min(row, ranks-first) {
					if !yield(first+i, base+i) {
						return
					}
				}
			}
		}
	}
}

// tree returns a tree, which is looked at once. The longest path is of those with the most edges between nodes
// the one with the most edges.
func (s *Topology) tree(without Digit, radix int) *rankTree {
	key := treeKey{without, radix}
	if t, ok := s.trees[key]; ok {
		return t
	}
	t := &rankTree{without: without, radix: radix}
	for weight := 1; weight < s.Ranks || weight == 1; weight *= radix {
		t.levels = append(t.levels, level{weight: weight})
	}
	length, ends := s.treeRoom()
	for i := range t.levels {
		k := i // from the root on
		if without == Lowest {
			k = len(t.levels) - 1 - i
		}
		l := &t.levels[k]
		stamp := uint32(k+1) << 24
		most := uint32(0)
		for r, up := range t.edges(l, s.Ranks) {
			l.edges++
			far := uint16(0)
			if to, from := s.node[r], s.node[up]; to != from {
				l.far++
				far = 1 << 8
				most = max(most, ends[from].parents.meet(stamp), ends[to].children.meet(stamp))
				ends[from].all++
			}
			length[r] = length[up] + 1 + far
		}
		l.most = int(most)
	}
	for r, n := range length {
		if n > length[t.deepest] {
			t.deepest = r
		}
	}
	s.countBusiest(t, ends)
	s.trees[key] = t
	return t
}

// treeRoom returns room for the ways to all ranks, of which a tree writes all but rank 0's, and for the ends at all nodes.
func (s *Topology) treeRoom() ([]uint16, []end) {
	if s.length == nil {
		s.length, s.ends = make([]uint16, s.Ranks), make([]end, len(s.counts))
	}
	clear(s.ends)
	return s.length, s.ends
}

// An end is how many edges between nodes end at a node: at parents in all levels, and in the last one at parents and at children.
type end struct {
	all               uint32
	parents, children tally
}

// A tally is how many edges of a level were met, in 24 bits, and the level plus one above them.
type tally uint32

// meet counts an edge of a level, and returns how many of that there are.
func (c *tally) meet(level uint32) uint32 {
	n := uint32(*c)
	if n>>24 != level>>24 {
		n = level
	}
	n++
	*c = tally(n)
	return n & (1<<24 - 1)
}

// countBusiest counts the edges of the node that has most of parents.
func (s *Topology) countBusiest(t *rankTree, ends []end) {
	busiest := 0
	for i := range s.counts {
		if ends[i].all > ends[busiest].all {
			busiest = i
		}
	}
	for up, n := range s.node {
		if int(n) != busiest {
			continue
		}
		for k := range t.levels {
			l := &t.levels[k]
			if t.without == Lowest && up%(l.weight*t.radix) != 0 || t.without == Highest && up >= l.weight {
				continue // it has no children there
			}
			for r := up + l.weight; r < min(s.Ranks, up+l.weight*t.radix); r += l.weight {
				if s.node[r] != n {
					l.busiest++
				}
			}
		}
	}
}
