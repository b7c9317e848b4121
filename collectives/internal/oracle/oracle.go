// Package oracle says what collective operations must yield, element by element,
// for the tests of package collectives. It knows no schedules and no kernels:
// inputs are a hash of where they stand, made so that every operation is exact in
// any order, and expected values are folded in plain Go, in the order of ranks. So
// results are compared without tolerance.
package oracle

import (
	"fmt"
	"reflect"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// A Place is where an input stands. Round counts the repetitions of a call, so that
// what is left of the last one is not mistaken for a result.
type Place struct {
	Seed  uint64
	Round int
	Part  int // who contributes: a rank, or one of its vectors
	Index int // in the contribution
}

// Hash is 64 bits that look random and depend on the place alone.
func (p Place) Hash() uint64 { return p.contribution().hash(p.Index) }

// A contribution is the part of a hash that its elements have in common.
type contribution uint64

func (p Place) contribution() contribution {
	h := mix(p.Seed + 0x9e3779b97f4a7c15*uint64(p.Round+1))
	return contribution(mix(h + 0xd1b54a32d192ed03*uint64(p.Part+1)))
}

func (c contribution) hash(index int) uint64 {
	return mix(uint64(c) + 0x8cb92ba72f3d8dd7*uint64(index+1))
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
func (e *Elements[T]) In(at Place, parts int) T { return e.Make(at.Hash(), at.Part, parts) }

// Folded is the fold of element index of the contributions from to to-1, in their
// order. There is at least one.
func (e *Elements[T]) Folded(at Place, from, to, parts int) T {
	at.Part = from
	sum := e.In(at, parts)
	for at.Part++; at.Part < to; at.Part++ {
		sum = e.Fold(sum, e.In(at, parts))
	}
	return sum
}

// Truth makes, combines and compares vectors of one type, given as bytes: its users know no type. The
// elements of a vector stand at a place and at the indices behind it.
type Truth interface {
	// Type is the type of the elements.
	Type() reflect.Type
	// Inputs stores inputs, of one of parts contributions.
	Inputs(dst []byte, at Place, parts int)
	// Add folds dst with the inputs of a higher rank, and stores the result in dst.
	Add(dst []byte, at Place, parts int)
	// Differ is a sentence on the first element of got that is not as in want, and true, or false.
	Differ(got, want []byte) (string, bool)
}

// Type implements Truth.
func (*Elements[T]) Type() reflect.Type { return reflect.TypeFor[T]() }

// Inputs implements Truth.
func (e *Elements[T]) Inputs(dst []byte, at Place, parts int) {
	v, c := reduce.Of[T](dst), at.contribution()
	for i := range v {
		v[i] = e.Make(c.hash(at.Index+i), at.Part, parts)
	}
}

// Add implements Truth.
func (e *Elements[T]) Add(dst []byte, at Place, parts int) {
	v, c := reduce.Of[T](dst), at.contribution()
	for i := range v {
		v[i] = e.Fold(v[i], e.Make(c.hash(at.Index+i), at.Part, parts))
	}
}

// Differ implements Truth.
func (e *Elements[T]) Differ(got, want []byte) (string, bool) {
	x, y := reduce.Of[T](got), reduce.Of[T](want)
	if len(x) != len(y) {
		return fmt.Sprintf("%d elements, want %d", len(x), len(y)), true
	}
	for i := range x {
		if !e.Same(x[i], y[i]) {
			return fmt.Sprintf("element %d of %d is %v, want %v", i, len(x), x[i], y[i]), true
		}
	}
	return "", false
}
