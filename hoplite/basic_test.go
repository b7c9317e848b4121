package hoplite_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// job runs ranks of this process with a store each.
func job(t *testing.T, ranks int, cfg hoplite.Config, do func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error) {
	t.Helper()
	ranktest.Local(t, ranks, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		s, err := hoplite.Open(ctx, p.World(), cfg)
		if err != nil {
			return err
		}
		if err := do(ctx, p, s); err != nil {
			return err
		}
		return s.Close(ctx)
	})
}

// numbers are n values that tell of the tag.
func numbers(tag, n int) []int64 {
	xs := make([]int64, n)
	for i := range xs {
		xs[i] = int64(tag)<<32 | int64(i)
	}
	return xs
}

// same says where two slices differ, or nil.
func same[T comparable](got, want []T) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d elements, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("element %d of %d is %v, want %v", i, len(got), got[i], want[i])
		}
	}
	return nil
}

// Goal: what serves other members does not wait for the only Go processor of a program that computes.
func TestOpenNeedsAProcessorBesideTheProgram(t *testing.T) {
	for _, c := range []struct{ before, want int }{{1, 2}, {3, 3}} {
		before := runtime.GOMAXPROCS(c.before)
		job(t, 1, hoplite.Config{Capacity: 1 << 10}, func(context.Context, *gaspi.Proc, *hoplite.Store) error { return nil })
		if got := runtime.GOMAXPROCS(before); got != c.want {
			t.Errorf("GOMAXPROCS is %d after Open, want %d where it was %d", got, c.want, c.before)
		}
	}
}

func TestEveryRankGetsWhatOnePuts(t *testing.T) {
	for ranks := 1; ranks <= 5; ranks++ {
		for _, n := range []int{0, 1, 100, 8191, 8192, 8193, 100_000} {
			t.Run(fmt.Sprintf("%d ranks/%d elements", ranks, n), func(t *testing.T) {
				job(t, ranks, hoplite.Config{Capacity: 4 << 20, Chunk: 4096}, func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
					want := numbers(7, n)
					if int(p.Rank()) == ranks/2 {
						if err := hoplite.Put(ctx, s, "x", want); err != nil {
							return err
						}
					}
					got, err := hoplite.Get[int64](ctx, s, "x")
					if err != nil {
						return err
					}
					return same(got, want)
				})
			})
		}
	}
}
