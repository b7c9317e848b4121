// Package oracle says what collective operations must yield, element by element,
// for the tests of package collectives. It knows no schedules and no kernels:
// inputs are a hash of where they stand, made so that every operation is exact in
// any order, and expected values are folded in plain Go, in the order of ranks. So
// results are compared without tolerance.
package oracle

import "fmt"

// A Place is where an input stands. Round counts the repetitions of a call, so that
// what is left of the last one is not mistaken for a result.
type Place struct {
	Seed  uint64
	Round int
	Part  int // who contributes: a rank, or one of its vectors
	Index int // in the contribution
}

// Hash is 64 bits that look random and depend on the place alone.
func (p Place) Hash() uint64 {
	h := mix(p.Seed + 0x9e3779b97f4a7c15*uint64(p.Round+1))
	h = mix(h + 0xd1b54a32d192ed03*uint64(p.Part+1))
	return mix(h + 0x8cb92ba72f3d8dd7*uint64(p.Index+1))
}

// mix is the finaliser of SplitMix64: every bit of x changes half of the result.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Elements makes and combines elements of one type under one operation.
type Elements[T any] struct {
	// Make is an input of one of parts contributions: any hash gives one, and all
	// that may meet are combined without rounding, in whatever order.
	Make func(hash uint64, part, parts int) T
	// Fold is a combined with b, a being of the lower ranks. Nil if elements are
	// only moved.
	Fold func(a, b T) T
	// Same reports whether two elements are the same to the bit, padding aside.
	Same func(a, b T) bool
}

// In is the input at a place, of one of parts contributions.
func (e Elements[T]) In(at Place, parts int) T { return e.Make(at.Hash(), at.Part, parts) }

// Folded is the fold of element index of the contributions from to to-1, in their
// order. There is at least one.
func (e Elements[T]) Folded(at Place, from, to, parts int) T {
	at.Part = from
	sum := e.In(at, parts)
	for at.Part++; at.Part < to; at.Part++ {
		sum = e.Fold(sum, e.In(at, parts))
	}
	return sum
}

// Differ is the first index at which got is not what want says, and a sentence on
// it, or false. want may say of an element that it may be anything.
func (e Elements[T]) Differ(got []T, want func(i int) (T, bool)) (string, bool) {
	for i := range got {
		if w, known := want(i); known && !e.Same(got[i], w) {
			return fmt.Sprintf("element %d of %d is %v, want %v", i, len(got), got[i], w), true
		}
	}
	return "", false
}
