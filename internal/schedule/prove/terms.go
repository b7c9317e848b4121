package prove

import (
	"cmp"
	"slices"
)

// A foldedValue says what an element holds: a sequence of contributions that were
// folded in this order. Elements of a vector that were treated alike differ only
// in their index, so a value is the number of the sequence, as seen from the first of
// its contributions, and the index of that.
type foldedValue struct {
	seq   int32
	delta int
}

// poison is the sequence of what nobody has written.
const poison = 0

// A leaf is where contributions come from: vector local of a rank, as its caller
// wrote it before a run. Of memory that is no contribution, rest is true.
type leaf struct {
	rest             bool
	run, rank, local int32
}

// A pair is two sequences after each other: right begins rel elements further on
// than left.
type pair struct {
	left, right int32
	rel         int
}

// terms numbers sequences so that equal ones have equal numbers as long as they are
// made alike, from left to right.
type terms struct {
	nodes  []node
	leaves map[leaf]int32
	pairs  map[pair]int32
	sorted map[int32]foldedValue
	codes  []code
}

// A node is a sequence: a leaf, a pair, or a coded form.
type node struct {
	kind byte // 'l', 'p', 'c', or 0 for poison
	leaf leaf
	pair pair
	code int
}

// A code is a coded form of some length, and what it decodes to.
type code struct {
	length int
	pieces []piece
}

func newTerms() *terms {
	return &terms{
		nodes: make([]node, 1), leaves: make(map[leaf]int32),
		pairs: make(map[pair]int32), sorted: make(map[int32]foldedValue),
	}
}

// leaf is the sequence of one contribution.
func (t *terms) leaf(l leaf) int32 {
	id, ok := t.leaves[l]
	if !ok {
		id = t.add(node{kind: 'l', leaf: l})
		t.leaves[l] = id
	}
	return id
}

// join is the value of b folded to a.
func (t *terms) join(a, b foldedValue) foldedValue {
	p := pair{a.seq, b.seq, b.delta - a.delta}
	id, ok := t.pairs[p]
	if !ok {
		id = t.add(node{kind: 'p', pair: p})
		t.pairs[p] = id
	}
	return foldedValue{id, a.delta}
}

// encode is the sequence that stands for the coded form of pieces, of so many
// elements.
func (t *terms) encode(pieces []piece, length int) int32 {
	t.codes = append(t.codes, code{length, slices.Clone(pieces)})
	return t.add(node{kind: 'c', code: len(t.codes) - 1})
}

func (t *terms) add(n node) int32 {
	t.nodes = append(t.nodes, n)
	return int32(len(t.nodes) - 1)
}

// flat are the contributions of a value in order, each of one.
func (t *terms) flat(dst []foldedValue, v foldedValue) []foldedValue {
	n := &t.nodes[v.seq]
	if n.kind != 'p' {
		return append(dst, v)
	}
	dst = t.flat(dst, foldedValue{n.pair.left, v.delta})
	return t.flat(dst, foldedValue{n.pair.right, v.delta + n.pair.rel})
}

// level is the value folded from left to right; of values that hold the same
// contributions in the same order it is the same. If they may come in any order, it
// is the same for all orders.
func (t *terms) level(v foldedValue, ordered bool) foldedValue {
	key := v.seq
	if ordered {
		key = -key
	}
	s, ok := t.sorted[key]
	if !ok {
		all := t.flat(nil, foldedValue{v.seq, 0})
		if !ordered {
			slices.SortFunc(all, func(a, b foldedValue) int {
				return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.delta, b.delta))
			})
		}
		s = all[0]
		for _, next := range all[1:] {
			s = t.join(s, next)
		}
		t.sorted[key] = s
	}
	return foldedValue{s.seq, s.delta + v.delta}
}
