package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// arithmetic is how a model makes and combines elements of one type: slowly, with the
// operators of the language. Values are so small that every result is exact.
type arithmetic[T comparable] struct {
	ops  []gaspi.Op
	of   func(op gaspi.Op, x uint64) T // a small value that follows from x
	fold func(op gaspi.Op, a, b T) T
}

type integers interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint
}

// ordered is the sum, product, minimum or maximum.
func ordered[T integers | float32 | float64](op gaspi.Op, a, b T) T {
	switch op {
	case gaspi.Sum:
		return a + b
	case gaspi.Prod:
		return a * b
	case gaspi.Min:
		return min(a, b)
	}
	return max(a, b)
}

// few is a number whose sums, and products with those of seven others, need few bits.
func few(op gaspi.Op, x uint64) int64 {
	if op == gaspi.Prod {
		return 1 + int64(x%2)
	}
	return int64(x % 16)
}

func integer[T integers]() arithmetic[T] {
	return arithmetic[T]{
		ops: []gaspi.Op{gaspi.Sum, gaspi.Prod, gaspi.Min, gaspi.Max, gaspi.And, gaspi.Or, gaspi.Xor},
		of:  func(_ gaspi.Op, x uint64) T { return T(x) }, // all bits: it wraps around
		fold: func(op gaspi.Op, a, b T) T {
			switch op {
			case gaspi.And:
				return a & b
			case gaspi.Or:
				return a | b
			case gaspi.Xor:
				return a ^ b
			}
			return ordered(op, a, b)
		},
	}
}

func floating[T float32 | float64]() arithmetic[T] {
	return arithmetic[T]{
		ops:  []gaspi.Op{gaspi.Sum, gaspi.Prod, gaspi.Min, gaspi.Max},
		of:   func(op gaspi.Op, x uint64) T { return T(few(op, x)) },
		fold: ordered[T],
	}
}

// half is for the two types of 16 bits, by way of float32.
func half[T comparable](to func(float32) T, from func(T) float32) arithmetic[T] {
	return arithmetic[T]{
		ops:  []gaspi.Op{gaspi.Sum, gaspi.Prod, gaspi.Min, gaspi.Max},
		of:   func(op gaspi.Op, x uint64) T { return to(float32(few(op, x))) },
		fold: func(op gaspi.Op, a, b T) T { return to(ordered(op, from(a), from(b))) },
	}
}

func complexes[T complex64 | complex128]() arithmetic[T] {
	return arithmetic[T]{
		ops: []gaspi.Op{gaspi.Sum, gaspi.Prod},
		of: func(op gaspi.Op, x uint64) T {
			if op == gaspi.Prod {
				return T(pickComplex(x))
			}
			return T(complex(float64(x%16), float64(x>>8%16)))
		},
		fold: func(op gaspi.Op, a, b T) T {
			if op == gaspi.Prod {
				return a * b
			}
			return a + b
		},
	}
}

// pickComplex is a number whose products are exact: 1, 2 or 1+i.
func pickComplex(x uint64) complex128 { return []complex128{1, 2, complex(1, 1)}[x%3] }

func locations[V int32 | int64 | float32 | float64]() arithmetic[collectives.Loc[V]] {
	type loc = collectives.Loc[V]
	return arithmetic[loc]{
		ops: []gaspi.Op{collectives.MinLoc, collectives.MaxLoc},
		of:  func(_ gaspi.Op, x uint64) loc { return loc{Value: V(x % 8), Index: int64(x >> 8 % 100)} },
		fold: func(op gaspi.Op, a, b loc) loc {
			if a.Value == b.Value {
				a.Index = min(a.Index, b.Index)
				return a
			}
			if (a.Value < b.Value) == (op == collectives.MinLoc) {
				return a
			}
			return b
		},
	}
}

// vector is the contribution of a member to a call.
func (a *arithmetic[T]) vector(op gaspi.Op, key uint64, member, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = a.of(op, mix(key, uint64(member), uint64(i)))
	}
	return v
}

// combine folds the vectors of some members, in that order.
func (a *arithmetic[T]) combine(op gaspi.Op, key uint64, members []int, n int) []T {
	sum := a.vector(op, key, members[0], n)
	for _, m := range members[1:] {
		for i, x := range a.vector(op, key, m, n) {
			sum[i] = a.fold(op, sum[i], x)
		}
	}
	return sum
}

// upTo is the numbers below n.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// same compares a result with the model.
func same[T comparable](what string, got, want []T) error {
	if slices.Equal(got, want) {
		return nil
	}
	if len(got) != len(want) {
		return fmt.Errorf("%s has %d elements, want %d", what, len(got), len(want))
	}
	var wrong []int
	for i := range got {
		if got[i] != want[i] {
			wrong = append(wrong, i)
		}
	}
	at := wrong[0]
	return unlike(what, len(got), wrong, fmt.Sprint(got[at]), fmt.Sprint(want[at]))
}

func unlike(what string, n int, wrong []int, got, want string) error {
	return fmt.Errorf("%s: element %d of %d is %s, want %s; %d elements are wrong", what, wrong[0], n, got, want, len(wrong))
}

// A summing is AllReduce of package gaspi for one type.
type summing struct {
	elements
	call interface {
		reduce(ctx context.Context, g *gaspi.Group, send, recv vector, op gaspi.Op) error
	}
}

type summer[T gaspi.Number] struct{}

func (*summer[T]) reduce(ctx context.Context, g *gaspi.Group, send, recv vector, op gaspi.Op) error {
	return gaspi.AllReduce(ctx, g, send.(list[T]), recv.(list[T]), op)
}

func summingOf[T gaspi.Number](a arithmetic[T]) summing { return summing{&a, new(summer[T])} }

// small is AllReduce of package gaspi. The arguments of its first call count: where a call is
// cut short, the next gets other numbers.
func small(ctx context.Context, s *scene, rng, plan *rand.Rand, a summing) error {
	op, key := pick(plan, a.kinds()...), plan.Uint64()
	n := 1 + plan.IntN(s.p.Config().AllReduceElements)
	if plan.IntN(2) == 0 {
		n = 1 + plan.IntN(4)
	}
	inPlace := plan.IntN(2) == 0
	send, recv := a.input(op, key, s.me, n), a.zeros(n)
	if inPlace {
		recv = send
	}
	err := s.resume(ctx, rng, func(ctx context.Context) error {
		err := a.call.reduce(ctx, s.g, send, recv, op)
		if err != nil && !inPlace {
			send.set(a.zeros(n))
		}
		return err
	})
	if err != nil {
		return err
	}
	if s.mutant("wrong sum") {
		recv.set(a.input(op, key+1, s.me, n))
	}
	return recv.same(fmt.Sprintf("AllReduce (%v of %d %T)", op, n, send), a.reduced(op, key, upTo(len(s.members)), n))
}

// smallFunc is AllReduceFunc: sums and greatest parts of complex numbers.
func smallFunc(ctx context.Context, s *scene, rng, plan *rand.Rand) error {
	a, key, n := complexes[complex128](), plan.Uint64(), 1+plan.IntN(s.p.Config().AllReduceElements/2)
	fold := func(x, y complex128) complex128 {
		return complex(real(x)+real(y), max(imag(x), imag(y)))
	}
	send, recv := a.vector(gaspi.Sum, key, s.me, n), make([]complex128, n)
	err := s.resume(ctx, rng, func(ctx context.Context) error {
		return gaspi.AllReduceFunc(ctx, s.g, send, recv, func(acc, in []complex128) {
			for i := range acc {
				acc[i] = fold(acc[i], in[i])
			}
		})
	})
	if err != nil {
		return err
	}
	want := a.vector(gaspi.Sum, key, 0, n)
	for m := 1; m < len(s.members); m++ {
		for i, x := range a.vector(gaspi.Sum, key, m, n) {
			want[i] = fold(want[i], x)
		}
	}
	return same("AllReduceFunc", recv, want)
}
