package gaspi_test

import (
	"context"
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
