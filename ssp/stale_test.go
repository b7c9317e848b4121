package ssp_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// checkResult holds a result of tagged contributions against what the package
// promises for the call with that clock.
func checkResult[T gaspi.Number](res ssp.Result[T], ranks int, me gaspi.Rank, clock, slack int64) error {
	cs, err := clocks(res.Values, ranks)
	if err != nil {
		return fmt.Errorf("clock %d: %w", clock, err)
	}
	switch {
	case cs[me] != clock:
		return fmt.Errorf("clock %d: the rank's own contribution has clock %d", clock, cs[me])
	case slices.Min(cs) < clock-slack:
		return fmt.Errorf("clock %d slack %d: contributions %v are too old", clock, slack, cs)
	case slack == 0 && slices.Max(cs) != clock:
		return fmt.Errorf("clock %d slack 0: contributions %v", clock, cs)
	case slices.Min(cs) != res.Oldest || slices.Max(cs) != res.Newest:
		return fmt.Errorf("clock %d: contributions %v, said to be %d to %d", clock, cs, res.Oldest, res.Newest)
	}
	return nil
}

// Every result has one contribution of every rank, whole, within the slack, and
// the clocks it says.
func stressTags[T gaspi.Number](t *testing.T, ranks, slack, calls int, seed uint64) {
	t.Helper()
	n := ranks * max(2, 512/ranks)
	local(t, ranks, func(ctx context.Context, p *gaspi.Proc) error {
		r, err := ssp.New[T](ctx, p.World(), n, ssp.Sum, slack)
		if err != nil {
			return err
		}
		wait := newJitter(seed, p.Rank(), 40*int(seed%3))
		mine := make([]T, n)
		for clock := int64(1); clock <= int64(calls); clock++ {
			wait.pause()
			tag(mine, ranks, p.Rank(), clock)
			res, err := r.AllReduce(ctx, mine)
			if err == nil {
				err = checkResult(res, ranks, p.Rank(), clock, int64(slack))
			}
			if err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
		}
		return r.Close(ctx)
	})
}

func TestStressEveryContributionOnceAndWithinSlack(t *testing.T) {
	calls, seeds := 100, uint64(3)
	if testing.Short() {
		calls, seeds = 20, 1
	}
	for _, ranks := range sizes {
		for _, slack := range []int{0, 1, 2, 5} {
			t.Run(fmt.Sprintf("ranks=%d/slack=%d", ranks, slack), func(t *testing.T) {
				for seed := range seeds {
					stressTags[int64](t, ranks, slack, calls, seed)
				}
				if testing.Short() {
					return // other types differ in arithmetic alone
				}
				stressTags[float32](t, ranks, slack, calls, 4)
				stressTags[float64](t, ranks, slack, calls, 5)
				stressTags[int32](t, ranks, slack, calls, 7)
			})
		}
	}
}
