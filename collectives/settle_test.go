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

// largeSum is the elements of a sum of int32 that needs more scratch than a team begins with, if
// it is done as a whole. sumOfLarge is how errors name it.
const largeSum = 2 * collectives.FirstSlab / 4

var sumOfLarge = fmt.Sprintf("(sum of %d int32)", largeSum)

// whole makes an operation copy all of its plain slices to scratch at once.
func whole() collectives.Option { return collectives.Concurrency(1) }

// TestGrowthBehindOperations has rank 0 begin a sum that needs more memory while one
// before it is under way, which rank 1 waits for first.
func TestGrowthBehindOperations(t *testing.T) {
	onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		few, many := make([]int32, 100), make([]int32, largeSum)
		small, large := collectives.AllReduceTask(few, collectives.Sum), collectives.AllReduceTask(many, collectives.Sum, whole())
		if team.Rank() == 1 {
			return errors.Join(collectives.Do(ctx, team, small), collectives.Do(ctx, team, large))
		}
		first, err := collectives.Start(ctx, team, small)
		if err != nil {
			return err
		}
		second, err := collectives.Start(ctx, team, large)
		if err != nil {
			return err
		}
		return errors.Join(first.Wait(ctx), second.Wait(ctx))
	})
}

// TestGrowthThatEndsEarly has rank 0 come to a call that needs more memory long before
// rank 1: by each way to begin one, it gives up, is refused another call, and goes on.
func TestGrowthThatEndsEarly(t *testing.T) {
	for name, begin := range map[string]func(context.Context, *collectives.Team, collectives.Task) error{
		"do": collectives.Do,
		"start": func(ctx context.Context, team *collectives.Team, task collectives.Task) error {
			h, err := collectives.Start(ctx, team, task)
			if err != nil {
				return err
			}
			return h.Wait(ctx)
		},
		"plan": func(ctx context.Context, team *collectives.Team, task collectives.Task) error {
			p, err := collectives.NewPlan(ctx, team, task)
			if err != nil {
				return err
			}
			return p.Run(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			late := make(chan struct{})
			onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
				if err := collectives.Barrier(ctx, team); err != nil { // which has a plan then
					return err
				}
				buf := vector(largeSum, func(i int) int32 { return int32(i + team.Rank()) })
				if team.Rank() == 1 {
					if err := await(ctx, late); err != nil {
						return err
					}
				} else {
					brief, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
					defer cancel()
					err := begin(brief, team, collectives.AllReduceTask(make([]int32, largeSum), collectives.Sum, whole()))
					if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "to agree on the call") {
						return fmt.Errorf("alone: got %w", err)
					}
					err = collectives.Barrier(ctx, team)
					if !errors.Is(err, gaspi.ErrMismatch) || !strings.Contains(err.Error(), sumOfLarge+" ended early and is to be finished first") {
						return fmt.Errorf("another call: got %w", err)
					}
					close(late)
				}
				if err := begin(ctx, team, collectives.AllReduceTask(buf, collectives.Sum, whole())); err != nil {
					return err
				}
				if err := matches(name, buf, func(i int) int32 { return int32(2*i + 1) }); err != nil {
					return err
				}
				return collectives.Barrier(ctx, team)
			})
		})
	}
}

// TestPlansThatDoNotMatch makes plans of which one needs more memory: both ranks are told
// of both. Reset closes the plan that one of them has, so that their next claims are the same.
func TestPlansThatDoNotMatch(t *testing.T) {
	onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		sum := func(n int) collectives.Task {
			return collectives.AllReduceTask(make([]int32, n), collectives.Sum, whole())
		}
		plan, err := collectives.NewPlan(ctx, team, sum([]int{largeSum, 40}[team.Rank()]))
		if team.Rank() == 1 && err == nil {
			err = plan.Run(ctx)
		}
		w := twin{name: "plans", says: [2]string{sumOfLarge + " by ", "(sum of 40 int32) by "}}
		if err := w.mismatched(err); err != nil {
			return err
		}
		if err := team.Reset(ctx); err != nil {
			return err
		}
		if err := collectives.Do(ctx, team, sum(41)); err != nil {
			return fmt.Errorf("after Reset: %w", err)
		}
		if plan != nil {
			if err := plan.Run(ctx); !errors.Is(err, gaspi.ErrClosed) {
				return fmt.Errorf("the plan that not all members have: got %v, want %v", err, gaspi.ErrClosed)
			}
		}
		return collectives.Do(ctx, team, sum(41))
	})
}
