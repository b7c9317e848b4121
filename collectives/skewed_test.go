package collectives_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// TestSkewedBlocks calls the operations of unlike blocks on plain slices, with one block
// long and the others short or empty. A member with a short block cuts and stages it as
// the one with the long block does: the lengths are around those at which that changes.
func TestSkewedBlocks(t *testing.T) {
	for _, transport := range []string{"", "tcp"} {
		for _, long := range []int{16384, 16385, 300000} {
			for _, counts := range [][]int{{3728, long, 0}, {long, 0, 0}, {0, 1, long, 17}} {
				t.Run(fmt.Sprintf("%s %v", cmp.Or(transport, "loopback"), counts), func(t *testing.T) {
					t.Parallel()
					cfg := small
					cfg.Transport = transport
					ranktest.Local(t, len(counts), cfg, func(ctx context.Context, p *gaspi.Proc) error {
						team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
						if err != nil {
							return err
						}
						return skewedCalls(ctx, team, counts)
					})
				})
			}
		}
	}
}

// skewedCalls makes each call with every root, and twice, the second time with its plan.
func skewedCalls(ctx context.Context, team *collectives.Team, counts []int) error {
	var whole []float64 // block i is i+1 everywhere
	from := make([]int, len(counts)+1)
	for i, n := range counts {
		whole = append(whole, slices.Repeat([]float64{float64(i + 1)}, n)...)
		from[i+1] = from[i] + n
	}
	me := team.Rank()
	mine := whole[from[me]:from[me+1]]
	sums := make([]float64, len(mine))
	for i := range sums {
		sums[i] = float64(len(counts) * (me + 1))
	}
	for call := range 2 * len(counts) {
		root := call / 2
		all, part := make([]float64, len(whole)), make([]float64, len(mine))
		gathered := make([]float64, len(whole))
		errs := []error{
			collectives.AllGatherV(ctx, team, all, slices.Clone(mine), counts),
			collectives.GatherV(ctx, team, root, gathered, slices.Clone(mine), counts),
			collectives.ScatterV(ctx, team, root, part, slices.Clone(whole), counts),
		}
		reduced := make([]float64, len(mine))
		errs = append(errs, collectives.ReduceScatterV(ctx, team, reduced, slices.Clone(whole), counts, collectives.Sum))
		for i, op := range []string{"allgather", "gather", "scatter", "reduce-scatter"} {
			if errs[i] != nil {
				return fmt.Errorf("%s, root %d: %w", op, root, errs[i])
			}
		}
		switch {
		case !slices.Equal(all, whole):
			return fmt.Errorf("allgather: wrong")
		case me == root && !slices.Equal(gathered, whole):
			return fmt.Errorf("gather to %d: wrong", root)
		case !slices.Equal(part, mine):
			return fmt.Errorf("scatter from %d: wrong", root)
		case !slices.Equal(reduced, sums):
			return fmt.Errorf("reduce-scatter: wrong")
		}
	}
	return nil
}
