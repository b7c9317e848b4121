package hoplite_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// TestTypesAndOperations reduces vectors of every type, whose results are known exactly.
func TestTypesAndOperations(t *testing.T) {
	job(t, 2, hoplite.Config{Capacity: 1 << 20, Inline: 64}, func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
		r := &typed{ctx: ctx, p: p, s: s}
		integers[int8](r)
		integers[int16](r)
		integers[int32](r)
		integers[int64](r)
		integers[int](r)
		integers[uint8](r)
		integers[uint16](r)
		integers[uint32](r)
		integers[uint64](r)
		integers[uint](r)
		floats[float32](r)
		floats[float64](r)
		f16, b16 := hoplite.Float16(0x3c00), hoplite.BFloat16(0x3f80)    // 1
		reduces(r, hoplite.Sum, f16, f16, hoplite.Float16(0x4000))       // 2
		reduces(r, hoplite.Sum, b16, b16, hoplite.BFloat16(0x4000))      // 2
		reduces(r, hoplite.Prod, complex64(1+2i), complex64(3-1i), 5+5i) // by hand
		reduces(r, hoplite.Sum, complex128(1+2i), complex128(3-1i), 4+1i)
		type loc = hoplite.Loc[float64]
		reduces(r, hoplite.MaxLoc, loc{Value: 3, Index: 7}, loc{Value: 3, Index: 2}, loc{Value: 3, Index: 2})
		reduces(r, hoplite.MinLoc, hoplite.Loc[int32]{Value: 3, Index: 7}, hoplite.Loc[int32]{Value: 4, Index: 2}, hoplite.Loc[int32]{Value: 3, Index: 7})
		return r.err
	})
}

type typed struct {
	ctx  context.Context
	p    *gaspi.Proc
	s    *hoplite.Store
	next int
	err  error
}

func integers[T ~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint](r *typed) {
	floats[T](r)
	reduces(r, hoplite.And, T(12), T(10), 8)
	reduces(r, hoplite.Or, T(12), T(10), 14)
	reduces(r, hoplite.Xor, T(12), T(10), 6)
}

func floats[T ~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint | ~float32 | ~float64](r *typed) {
	reduces(r, hoplite.Sum, T(12), T(10), 22)
	reduces(r, hoplite.Prod, T(12), T(10), 120)
	reduces(r, hoplite.Min, T(12), T(10), 10)
	reduces(r, hoplite.Max, T(12), T(10), 12)
}

// reduces combines a vector of a at rank 0 with one of b at rank 1: few elements, which
// the directory carries, and many.
func reduces[T interface {
	comparable
	hoplite.Element
}](r *typed, op hoplite.Op, a, b, want T) {
	for _, n := range []int{3, 1001} {
		if r.err != nil {
			return
		}
		r.next++
		ids := []string{name(fmt.Sprint(r.next), 0), name(fmt.Sprint(r.next), 1)}
		mine, all := make([]T, n), make([]T, n)
		for i := range mine {
			mine[i], all[i] = a, want
			if r.p.Rank() == 1 {
				mine[i] = b
			}
		}
		target := fmt.Sprint(r.next)
		r.err = hoplite.Put(r.ctx, r.s, ids[r.p.Rank()], mine)
		if r.err == nil && int(r.p.Rank()) == r.next%2 {
			_, r.err = hoplite.Reduce[T](r.ctx, r.s, target, ids, op)
		}
		var got []T
		if r.err == nil {
			got, r.err = hoplite.Get[T](r.ctx, r.s, target)
		}
		if r.err == nil {
			r.err = same(got, all)
		}
		if r.err != nil {
			r.err = fmt.Errorf("%v of %d elements of type %T: %w", op, n, want, r.err)
		}
	}
}
