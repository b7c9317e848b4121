package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// A barrier is one if nobody leaves it before all have entered it.
func TestGASPIBarrierNobodyLeavesEarly(t *testing.T) {
	sizes := []int{129}
	for n := range 40 {
		sizes = append(sizes, n+1)
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ranktest.Local(t, n, small, func(ctx context.Context, p *gaspi.Proc) error {
				s := must(p.CreateSegment(ctx, 0, 8))
				for round := range uint64(10) {
					must(p.FetchAdd(ctx, s.At(0, 0), 1))
					ok(p.Barrier(ctx, p.World()))
					if got := must(p.FetchAdd(ctx, s.At(0, 0), 0)); got < (round+1)*uint64(n) {
						return fmt.Errorf("left barrier %d after %d entries of %d", round, got, (round+1)*uint64(n))
					}
				}
				return p.Barrier(ctx, p.World()) // rank 0 stays until all have looked
			})
		})
	}
}

// TestInitConnectsForBarriers has ranks that need no connection in their first barrier.
func TestInitConnectsForBarriers(t *testing.T) {
	for _, n := range []int{1, 2, 4, 5, 17, 40} {
		ranktest.Local(t, n, small, func(_ context.Context, p *gaspi.Proc) error {
			if missing := p.Unconnected(); len(missing) > 0 {
				t.Errorf("%d ranks: rank %d has yet to connect with %v", n, p.Rank(), missing)
			}
			return nil
		})
	}
}

// TestInitWithoutARank has the last part of Init end by its context, and go on, and a rank that is gone by then.
func TestInitWithoutARank(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() == 0 {
			if err := p.Connect(ended()); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("alone, with a context that has ended: %v", err)
			}
		}
		ok(p.Barrier(ctx, p.World())) // the others come after that
		ok(p.Connect(ctx))
		ok(p.Barrier(ctx, p.World()))
		if p.Rank() == 2 {
			return nil
		}
		if err := p.Connect(ctx); err != nil {
			return fmt.Errorf("without rank 2: %v", err)
		}
		if _, gone := errors.AsType[*gaspi.RankError](p.Barrier(ctx, p.World())); !gone {
			return errors.New("a barrier ends without rank 2")
		}
		return nil
	})
}
