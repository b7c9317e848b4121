package hoplite_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// name is the id of what a rank puts.
func name(what string, rank int) string { return fmt.Sprintf("%s of %d", what, rank) }

func TestReduceOverAllRanksAndShapes(t *testing.T) {
	for _, shape := range []hoplite.Shape{hoplite.ShapeAuto, hoplite.ShapeChain, hoplite.ShapeGrid, hoplite.ShapeTree} {
		for ranks := 1; ranks <= 5; ranks++ {
			for _, n := range []int{0, 1, 8192, 50_001} {
				t.Run(fmt.Sprintf("shape %d/%d ranks/%d elements", shape, ranks, n), func(t *testing.T) {
					// A rank has its source, the target and parts of it. More would be memory that is
					// cleared and, under the race detector, shadowed.
					capacity := int64(1<<20 + 4*8*n)
					job(t, ranks, hoplite.Config{Capacity: capacity, Chunk: 4096, Shape: shape}, func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
						return reduceOnce(ctx, p, s, "x", n)
					})
				})
			}
		}
	}
}

// reduceOnce has every rank put n numbers, one reduce them, and all get the sum.
func reduceOnce(ctx context.Context, p *gaspi.Proc, s *hoplite.Store, what string, n int) error {
	var ids []string
	want := make([]int64, n)
	for r := range p.Size() {
		ids = append(ids, name(what, r))
		for i, x := range numbers(r+1, n) {
			want[i] += x
		}
	}
	if err := hoplite.Put(ctx, s, ids[p.Rank()], numbers(int(p.Rank())+1, n)); err != nil {
		return err
	}
	if int(p.Rank()) == p.Size()-1 {
		used, err := hoplite.Reduce[int64](ctx, s, what, ids, hoplite.Sum)
		if err != nil {
			return err
		}
		if err := same(used, ids); err != nil {
			return fmt.Errorf("used: %w", err)
		}
	}
	got, err := hoplite.Get[int64](ctx, s, what)
	if err != nil {
		return err
	}
	return same(got, want)
}

// Sources that differ in size, or are no whole elements, leave no target behind.
func TestReduceOfSizesThatDoNotFit(t *testing.T) {
	job(t, 2, hoplite.Config{Capacity: 1 << 20}, func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
		if p.Rank() == 1 {
			return nil
		}
		for id, n := range map[string]int{"a": 16, "b": 24, "c": 10, "d": 10} {
			if err := hoplite.Put(ctx, s, id, make([]byte, n)); err != nil {
				return err
			}
		}
		for _, ids := range [][]string{{"a", "b"}, {"c", "d"}} {
			if _, err := hoplite.Reduce[int32](ctx, s, "sum", ids, hoplite.Sum); !errors.Is(err, hoplite.ErrMismatch) {
				return fmt.Errorf("reduce %v: %v, want a mismatch", ids, err)
			}
		}
		if _, err := hoplite.Reduce[int64](ctx, s, "sum", []string{"a"}, hoplite.Sum); err != nil {
			return fmt.Errorf("after two that failed: %w", err)
		}
		return nil
	})
}
