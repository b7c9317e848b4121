package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// late has all ranks but one call an operation whose context ends at once, checks
// what they are told, lets the last one come, and calls again.
func late(t *testing.T, ranks int, call func(ctx context.Context, team *collectives.Team, round int) error) {
	t.Helper()
	tried := make(chan struct{}, ranks)
	for round := range 3 {
		onTeam(t, ranks, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
			for warm := range round { // so that it is a plan that has run, or not
				if err := call(ctx, team, warm); err != nil {
					return err
				}
			}
			if team.Rank() == 1 {
				for range ranks - 1 {
					if err := await(ctx, tried); err != nil {
						return err
					}
				}
				return call(ctx, team, round)
			}
			short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			err := call(short, team, round)
			tried <- struct{}{}
			if !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("round %d: while rank 1 is missing: got %v, want %v", round, err, context.DeadlineExceeded)
			}
			if ranks == 2 && !strings.Contains(err.Error(), "waiting for rank 1") {
				return fmt.Errorf("round %d: %w does not say that it waits for rank 1", round, err)
			}
			return call(ctx, team, round)
		})
	}
}

// TestCallGoesOnAfterTimeout is single calls whose context ends while a rank is
// late: made again they go on, and nothing is sent twice.
func TestCallGoesOnAfterTimeout(t *testing.T) {
	for _, ranks := range []int{2, 5} {
		for _, how := range []string{"", "ring", "direct", "doubling"} {
			t.Run(fmt.Sprintf("%d ranks, %q", ranks, how), func(t *testing.T) {
				bufs := make([][]int64, ranks)
				late(t, ranks, func(ctx context.Context, team *collectives.Team, round int) error {
					me := team.Rank()
					if bufs[me] == nil {
						bufs[me] = vector(100, func(i int) int64 { return int64(i*me + round) })
					}
					err := collectives.AllReduce(ctx, team, bufs[me], collectives.Sum, collectives.Algorithm(how))
					if err != nil {
						return err
					}
					got := bufs[me]
					bufs[me] = nil
					return matches("sum", got, func(i int) int64 { return int64(i*ranks*(ranks-1)/2 + round*ranks) })
				})
			})
		}
	}
}

// TestAnotherCallAfterTimeout is refused: the one that ended early comes first.
func TestAnotherCallAfterTimeout(t *testing.T) {
	ready := make(chan struct{})
	onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		buf := make([]int64, 10)
		if team.Rank() == 1 {
			if err := await(ctx, ready); err != nil {
				return err
			}
			return collectives.AllReduce(ctx, team, buf, collectives.Sum)
		}
		short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		if err := collectives.AllReduce(short, team, buf, collectives.Sum); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
		err := collectives.Barrier(ctx, team)
		close(ready)
		if !errors.Is(err, gaspi.ErrMismatch) || !strings.Contains(err.Error(), "allreduce (sum of 10 int64) ended early and is to be finished first") {
			return fmt.Errorf("got %v, which does not say what is to be finished first", err)
		}
		return collectives.AllReduce(ctx, team, buf, collectives.Sum)
	})
}

// TestPlanGoesOnAfterTimeout is runs of plans whose context ends: Run and Wait go
// on, also if other calls have ended the run meanwhile.
func TestPlanGoesOnAfterTimeout(t *testing.T) {
	for _, warm := range []int{0, 2} {
		late := make(chan struct{})
		onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
			me := int64(team.Rank())
			buf, other := []int64{me, 5 * me}, []int64{me}
			p, err := collectives.PlanAllReduce(ctx, team, buf, collectives.Sum, collectives.Algorithm("doubling"))
			if err != nil {
				return err
			}
			for range warm {
				if err := p.Run(ctx); err != nil {
					return err
				}
			}
			copy(buf, []int64{me, 5 * me})
			if me == 1 {
				if err := await(ctx, late); err != nil {
					return err
				}
				if err := p.Run(ctx); err != nil {
					return err
				}
			} else {
				short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
				defer cancel()
				if err := p.Run(short); !errors.Is(err, context.DeadlineExceeded) {
					return fmt.Errorf("got %v, want %v", err, context.DeadlineExceeded)
				}
				if _, err := p.Start(); !errors.Is(err, gaspi.ErrInUse) {
					return fmt.Errorf("a run that ended early can be started again: %v", err)
				}
				close(late)
			}
			h, err := collectives.Start(ctx, team, collectives.AllReduceTask(other, collectives.Max))
			if err != nil {
				return err
			}
			if err := h.Wait(ctx); err != nil { // ends the run of the plan too
				return err
			}
			if me == 0 {
				if err := p.Run(ctx); err != nil {
					return err
				}
			}
			if err := matches("sum", buf, func(i int) int64 { return int64(1 + 4*i) }); err != nil {
				return err
			}
			if err := p.Run(ctx); err != nil { // a new one
				return err
			}
			if err := matches("sum of sums", buf, func(i int) int64 { return 2 * int64(1+4*i) }); err != nil {
				return err
			}
			return collectives.AllReduce(ctx, team, other, collectives.Sum)
		})
	}
}

// TestWaitGoesOnAfterTimeout is the same by handles.
func TestWaitGoesOnAfterTimeout(t *testing.T) {
	ready := make(chan struct{})
	onTeam(t, 3, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		buf := []int32{int32(team.Rank())}
		if team.Rank() == 2 {
			if err := await(ctx, ready); err != nil {
				return err
			}
		}
		h, err := collectives.Start(ctx, team, collectives.AllReduceTask(buf, collectives.Sum))
		if err != nil {
			return err
		}
		if team.Rank() == 0 {
			canceled, cancel := context.WithCancel(ctx)
			cancel()
			if err := h.Wait(canceled); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("got %v, want %v", err, context.Canceled)
			}
			close(ready)
		}
		if err := h.Wait(ctx); err != nil {
			return err
		}
		return matches("sum", buf, func(int) int32 { return 3 })
	})
}

// TestCallGoesOnAfterItHasEnded is a single call whose context ends, and whose operation ends during
// another call of the team: the same call again returns, and does nothing twice.
func TestCallGoesOnAfterItHasEnded(t *testing.T) {
	late := make(chan struct{})
	onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		me := int64(team.Rank())
		buf, other := []int64{me, 5 * me}, []int64{me}
		call := func(ctx context.Context) error {
			return collectives.AllReduce(ctx, team, buf, collectives.Sum, collectives.Algorithm("doubling"))
		}
		if me == 0 {
			short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
			defer cancel()
			if err := call(short); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("got %v, want %v", err, context.DeadlineExceeded)
			}
			close(late)
		} else {
			if err := await(ctx, late); err != nil {
				return err
			}
			if err := call(ctx); err != nil {
				return err
			}
		}
		h, err := collectives.Start(ctx, team, collectives.AllReduceTask(other, collectives.Max))
		if err != nil {
			return err
		}
		if err := h.Wait(ctx); err != nil { // ends the call too
			return err
		}
		if me == 0 {
			if err := call(ctx); err != nil {
				return err
			}
		}
		return matches("sum", buf, func(i int) int64 { return int64(1 + 4*i) })
	})
}
