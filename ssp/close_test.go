package ssp_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// Ranks stop after different numbers of calls, some before the first. The
// others go on undisturbed, and the contributions of those that stopped stay.
func TestCloseAtDifferentClocks(t *testing.T) {
	patterns := map[string]func(rank int) int64{
		"late ranks stop first": func(rank int) int64 { return 30 - int64(rank) },
		"corner 0 stops first":  func(rank int) int64 { return 3 + 9*int64(min(rank, 2)) },
		"all over":              func(rank int) int64 { return int64(rank*7%5) * 6 },
		"at once":               func(int) int64 { return 0 },
		"only the last goes on": func(rank int) int64 { return int64(rank/2) * 12 },
	}
	for name, calls := range patterns {
		for _, ranks := range sizes {
			if testing.Short() && !slices.Contains([]int{1, 2, 3, 5, 8, 17}, ranks) {
				continue // the step test, without the race detector, has them
			}
			for _, slack := range []int{0, 1, 2, 5} {
				t.Run(fmt.Sprintf("%s/ranks=%d/slack=%d", name, ranks, slack), func(t *testing.T) {
					closeAt(t, ranks, slack, calls)
				})
			}
		}
	}
}

func closeAt(t *testing.T, ranks, slack int, calls func(int) int64) {
	t.Helper()
	n := 2 * ranks
	ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
		r, err := ssp.New[int64](ctx, p.World(), n, ssp.Sum, slack)
		if err != nil {
			return err
		}
		wait := newJitter(uint64(slack), p.Rank(), 30)
		mine := make([]int64, n)
		for clock := int64(1); clock <= calls(int(p.Rank())); clock++ {
			wait.pause()
			tag(mine, ranks, p.Rank(), clock)
			res, err := r.AllReduce(ctx, mine)
			if err != nil {
				return err
			}
			if err := checkClosing(res, ranks, clock, int64(slack), calls); err != nil {
				return err
			}
		}
		if err := r.Close(ctx); err != nil {
			return err
		}
		return afterClose(ctx, r, p, calls(int(p.Rank())))
	})
}

// checkClosing is checkResult where ranks have stopped after calls(rank) calls:
// their contribution is the last one for ever, and none if there was no call.
func checkClosing(res ssp.Result[int64], ranks int, clock, slack int64, calls func(int) int64) error {
	oldest, newest := clock, clock
	for i, v := range res.Values {
		last := calls(i % ranks)
		if last == 0 && v == 0 {
			continue
		}
		c := v / tagUnit
		low, high := min(clock-slack, last), last
		if slack == 0 {
			high = min(clock, last)
		}
		if v%tagUnit != 1 || c < low || c > high {
			return fmt.Errorf("clock %d slack %d: rank %d is in it %d times with clock %d; want once with %d to %d",
				clock, slack, i%ranks, v%tagUnit, c, low, high)
		}
		oldest, newest = min(oldest, c), max(newest, c)
	}
	if oldest != res.Oldest || newest != res.Newest {
		return fmt.Errorf("clock %d: clocks %d to %d, said to be %d to %d", clock, oldest, newest, res.Oldest, res.Newest)
	}
	return nil
}

func afterClose(ctx context.Context, r *ssp.Reduction[int64], p *gaspi.Proc, calls int64) error {
	if err := r.Close(ctx); err != nil {
		return fmt.Errorf("second Close: %w", err)
	}
	if _, err := r.AllReduce(ctx, make([]int64, 2*p.Size())); !errors.Is(err, gaspi.ErrClosed) {
		return fmt.Errorf("AllReduce after Close: got %v, want ErrClosed", err)
	}
	if r.Clock() != calls {
		return fmt.Errorf("clock %d after %d calls", r.Clock(), calls)
	}
	if ids := p.Segments(); len(ids) > 0 {
		return fmt.Errorf("segments %v are left after Close", ids)
	}
	return nil
}

// Close is ended by its context again and again, also after a call that was
// ended in the middle, and goes on each time.
func TestCloseAfterCancel(t *testing.T) {
	for _, ranks := range sizes {
		for _, slack := range []int{0, 2} {
			t.Run(fmt.Sprintf("ranks=%d/slack=%d", ranks, slack), func(t *testing.T) {
				ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
					r, err := ssp.New[int32](ctx, p.World(), 4, ssp.Max, slack)
					if err != nil {
						return err
					}
					mine := []int32{1, 2, 3, int32(p.Rank())}
					for range 3 {
						if _, err := r.AllReduce(ctx, mine); err != nil {
							return err
						}
					}
					if p.Rank()%2 == 0 {
						if _, err := r.AllReduce(ended(), mine); err != nil && !errors.Is(err, context.Canceled) {
							return err
						}
					}
					for range 1000 {
						if err = r.Close(ended()); !errors.Is(err, context.Canceled) {
							return err
						}
					}
					return r.Close(ctx)
				})
			})
		}
	}
}

// A rank that closes without a call is left out, which is not the same as
// contributing zeros.
func TestRankWithoutCallIsLeftOut(t *testing.T) {
	for _, ranks := range sizes[1:] {
		for _, slack := range []int{0, 2} {
			t.Run(fmt.Sprintf("ranks=%d/slack=%d", ranks, slack), func(t *testing.T) {
				silent := func(rank int) bool { return rank%3 == 1 }
				ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
					r, err := ssp.New[int32](ctx, p.World(), 2, ssp.Max, slack)
					if err != nil {
						return err
					}
					for range 10 {
						if silent(int(p.Rank())) {
							break
						}
						res, err := r.AllReduce(ctx, []int32{-7, -9})
						if err != nil {
							return err
						}
						if res.Values[0] != -7 || res.Values[1] != -9 {
							return fmt.Errorf("the maximum of -7, -9 on all ranks that contribute is %v", res.Values)
						}
					}
					return r.Close(ctx)
				})
			})
		}
	}
}

// A rank whose Close was ended when it had nothing more to send is still owed
// nothing but the end of the barrier, which comes although the other rank is
// through it and has left the job.
func TestCloseAgainAfterTheOtherLeft(t *testing.T) {
	sentAll, inBarrier := make(chan struct{}), make(chan struct{})
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		r, err := ssp.New[int32](ctx, p.World(), 4, ssp.Sum, 1)
		if err != nil {
			return err
		}
		if _, err := r.AllReduce(ctx, make([]int32, 4)); err != nil {
			return err
		}
		other := 1 - p.Rank()
		wait, tell := inBarrier, sentAll
		if p.Rank() == 0 {
			<-sentAll
			wait, tell = nil, inBarrier
		}
		if err := r.Close(ended()); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("got %v, want it to wait for rank %d", err, other)
		}
		close(tell)
		if wait != nil {
			<-wait
			return r.Close(ctx)
		}
		for p.Failure(other) == nil && ctx.Err() == nil {
			runtime.Gosched()
		}
		return r.Close(ctx)
	})
}
