package ssp_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// contribution is what a rank contributes in a call: numbers from a seed,
// integers of at most 10 bits so that sums in any order are the same bits.
func contribution[T gaspi.Number](seed uint64, rank int, clock, n int) []T {
	rng := rand.New(rand.NewPCG(seed, uint64(rank)<<32|uint64(clock)))
	mine := make([]T, n)
	for i := range mine {
		mine[i] = T(rng.IntN(1024))
	}
	return mine
}

// reference is the reduction as anybody would write it.
func reference[T gaspi.Number](op ssp.Op, seed uint64, ranks, clock, n int) []T {
	all := contribution[T](seed, 0, clock, n)
	for r := 1; r < ranks; r++ {
		for i, v := range contribution[T](seed, r, clock, n) {
			switch op {
			case ssp.Sum:
				all[i] += v
			case ssp.Min:
				all[i] = min(all[i], v)
			default:
				all[i] = max(all[i], v)
			}
		}
	}
	return all
}

func exact[T gaspi.Number](t *testing.T, op ssp.Op, ranks, n int) {
	t.Helper()
	const calls = 6
	seed := uint64(ranks*1000 + n)
	ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
		r, err := ssp.New[T](ctx, p.World(), n, op, 0)
		if err != nil {
			return err
		}
		wait := newJitter(seed, p.Rank(), 20)
		for clock := 1; clock <= calls; clock++ {
			wait.pause()
			res, err := r.AllReduce(ctx, contribution[T](seed, int(p.Rank()), clock, n))
			if err != nil {
				return err
			}
			want := ssp.Result[T]{
				Values: reference[T](op, seed, ranks, clock, n),
				Oldest: int64(clock), Newest: int64(clock), Waited: res.Waited,
			}
			if diff := cmp.Diff(want, res); diff != "" {
				return fmt.Errorf("seed %d clock %d: (-want +got)\n%s", seed, clock, diff)
			}
			if r.Clock() != int64(clock) || r.Slack() != 0 {
				return fmt.Errorf("clock %d slack %d, want %d and 0", r.Clock(), r.Slack(), clock)
			}
		}
		return r.Close(ctx)
	})
}

func TestNoSlackIsAnAllReduce(t *testing.T) {
	for _, ranks := range sizes {
		t.Run(fmt.Sprintf("ranks=%d", ranks), func(t *testing.T) {
			for _, op := range []ssp.Op{ssp.Sum, ssp.Min, ssp.Max} {
				exact[float32](t, op, ranks, 33)
				exact[float64](t, op, ranks, 1)
				exact[int32](t, op, ranks, 100)
				exact[int64](t, op, ranks, 7)
				exact[uint8](t, op, ranks, 65)
			}
		})
	}
}

// awkward is a contribution whose sum depends on the order of adding, down to
// the last bit, and holds values that are not numbers.
func awkward(rank int, clock, n int) []float64 {
	rng := rand.New(rand.NewPCG(uint64(rank), uint64(clock)))
	mine := make([]float64, n)
	for i := range mine {
		mine[i] = math.Ldexp(rng.Float64()-0.5, rng.IntN(60)-30)
	}
	switch rank % 4 {
	case 1:
		mine[0], mine[1] = math.NaN(), math.Inf(1)
	case 2:
		mine[0], mine[1] = math.Float64frombits(0xFFF8000000001234), math.Inf(-1)
	case 3:
		mine[2] = math.Copysign(0, -1)
	}
	return mine
}

func TestNoSlackGivesTheSameBitsOnAllRanks(t *testing.T) {
	const n, calls = 50, 4
	for _, ranks := range sizes {
		for _, op := range []ssp.Op{ssp.Sum, ssp.Min, ssp.Max} {
			t.Run(fmt.Sprintf("ranks=%d/%v", ranks, op), func(t *testing.T) {
				var bits [calls][17][n]uint64
				ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
					r, err := ssp.New[float64](ctx, p.World(), n, op, 0)
					if err != nil {
						return err
					}
					for c := range calls {
						res, err := r.AllReduce(ctx, awkward(int(p.Rank()), c, n))
						if err != nil {
							return err
						}
						for i, v := range res.Values {
							bits[c][p.Rank()][i] = math.Float64bits(v)
						}
					}
					return r.Close(ctx)
				})
				for c := range calls {
					for rank := 1; rank < ranks; rank++ {
						if diff := cmp.Diff(bits[c][0], bits[c][rank]); diff != "" {
							t.Fatalf("call %d: rank 0 and rank %d differ:\n%s", c+1, rank, diff)
						}
					}
				}
			})
		}
	}
}

// The result may be passed back as the next contribution, changed or not.
func TestResultIsTheNextContribution(t *testing.T) {
	for _, ranks := range []int{1, 2, 3} {
		ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
			r, err := ssp.New[int64](ctx, p.World(), 3, ssp.Sum, 0)
			if err != nil {
				return err
			}
			mine := []int64{1, 2, 3}
			want := int64(1)
			for range 5 {
				res, err := r.AllReduce(ctx, mine)
				if err != nil {
					return err
				}
				want *= int64(ranks)
				if diff := cmp.Diff([]int64{want, 2 * want, 3 * want}, res.Values); diff != "" {
					return fmt.Errorf("(-want +got)\n%s", diff)
				}
				mine = res.Values
			}
			return r.Close(ctx)
		})
	}
}
