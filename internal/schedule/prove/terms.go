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
	codes  []code

	levels map[int32]foldedValue // by sequence; see level
	lists  []list
	byHash map[uint64]int32 // the number of the last list with that hash
	parts  []foldedValue    // of lists
	room   []foldedValue    // for use by level
}

// A list is contributions one by one. Its number is its place in all lists, from 1.
type list struct {
	parts []foldedValue // the first of which has no delta
	next  int32         // the number of another list with the same hash, or 0
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

// begin forgets all sequences but poison.
func (t *terms) begin() {
	t.nodes, t.codes, t.lists, t.parts = append(t.nodes[:0], node{}), t.codes[:0], t.lists[:0], t.parts[:0]
	t.leaves, t.pairs, t.levels, t.byHash = emptied(t.leaves), emptied(t.pairs), emptied(t.levels), emptied(t.byHash)
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

// level names what a value holds: the number of its list of contributions, and where the first of these begins. Of
// values that hold the same contributions in the same order it is the same. If they may come in any order, it
// is the same for all orders.
func (t *terms) level(v foldedValue, ordered bool) foldedValue {
	s, ok := t.levels[v.seq]
	if !ok {
		t.room = t.flat(t.room[:0], foldedValue{v.seq, 0})
		if !ordered {
			slices.SortFunc(t.room, foldedValue.compare)
		}
		s = foldedValue{delta: t.room[0].delta}
		for i := range t.room {
			t.room[i].delta -= s.delta
		}
		s.seq = t.number(t.room)
		t.levels[v.seq] = s
	}
	return foldedValue{s.seq, s.delta + v.delta}
}

func (v foldedValue) compare(w foldedValue) int {
	if v.seq != w.seq {
		return cmp.Compare(v.seq, w.seq)
	}
	return cmp.Compare(v.delta, w.delta)
}

// number returns the number of the list with these parts, which it copies if it is new.
func (t *terms) number(parts []foldedValue) int32 {
	const prime = 1_099_511_628_211 // of the FNV hash
	hash := uint64(0)
	for _, v := range parts {
		hash = ((hash^uint64(v.seq))*prime ^ uint64(v.delta)) * prime
	}
	last := t.byHash[hash]
	for n := last; n != 0; n = t.lists[n-1].next {
		if slices.Equal(t.lists[n-1].parts, parts) {
			return n
		}
	}
	at := len(t.parts)
	t.parts = append(t.parts, parts...)
	t.lists = append(t.lists, list{t.parts[at:], last})
	n := int32(len(t.lists))
	t.byHash[hash] = n
	return n
}
