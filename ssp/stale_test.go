package ssp_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
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
	ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
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

// Ranks that make as many calls as the others and then wait for them in another operation hold
// back nothing that these still need, whoever was late in which call.
func TestOtherWaitsAfterTheLastCall(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 4
	}
	for _, ranks := range []int{2, 3, 4, 5, 7} {
		for _, slack := range []int{0, 1, 2, 5, 9} {
			t.Run(fmt.Sprintf("ranks=%d/slack=%d", ranks, slack), func(t *testing.T) {
				for seed := range seeds {
					synctest.Test(t, func(t *testing.T) {
						asleep := small
						asleep.Spin, asleep.Yield = -1, -1 // time in a bubble stands still while a rank looks
						ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
						defer cancel()
						if err := gaspi.Local(ctx, ranks, asleep, func(ctx context.Context, p *gaspi.Proc) error {
							return stayAway(ctx, p, slack, rand.New(rand.NewPCG(seed, uint64(p.Rank()))))
						}); err != nil {
							t.Fatalf("seed %d: %v", seed, err)
						}
					})
				}
			})
		}
	}
}

// stayAway makes some calls, a barrier, and again, and sleeps before some of the calls: at times
// for so long that the others fill all slots of this rank.
func stayAway(ctx context.Context, p *gaspi.Proc, slack int, random *rand.Rand) error {
	r, err := ssp.New[int64](ctx, p.World(), 8, ssp.Sum, slack)
	if err != nil {
		return err
	}
	for range 5 {
		for range 3 + slack {
			time.Sleep(time.Duration(random.IntN(3)*random.IntN(200)) * time.Microsecond) // sleep: in the time of the bubble
			if _, err := r.AllReduce(ctx, make([]int64, 8)); err != nil {
				return err
			}
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
	}
	return r.Close(ctx)
}
