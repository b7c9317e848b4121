package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// sliced makes a call that goes on when it is made again, each time for less than the patience of a team, as programs do
// that look at signals in between.
func sliced(ctx context.Context, call func(ctx context.Context) error) error {
	for {
		slice, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		err := call(slice)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err
		}
	}
}

// A slicedCall is a call that does not match others, with a word by which errors tell it.
type slicedCall struct {
	name string
	call func(x *parted) func(ctx context.Context) error
	says string
}

// slicedCalls are some that were made before, on which members do not agree, a plan, and some for which all members meet.
func slicedCalls() []slicedCall {
	return []slicedCall{
		{"sum", func(x *parted) func(context.Context) error {
			v := make([]int32, 40)
			return func(ctx context.Context) error { return collectives.AllReduce(ctx, x.team, v, collectives.Sum) }
		}, "allreduce (sum of 40 int32)"},
		{"broadcast", func(x *parted) func(context.Context) error {
			v := make([]int32, 3)
			return func(ctx context.Context) error { _, err := collectives.Broadcast(ctx, x.team, 0, v); return err }
		}, "broadcast (3 int32, root 0)"},
		{"barrier", func(x *parted) func(context.Context) error {
			return func(ctx context.Context) error { return collectives.Barrier(ctx, x.team) }
		}, "barrier"},
		{"plan", func(x *parted) func(context.Context) error { return x.plan.Run }, "allgather"},
		{"alloc", func(x *parted) func(context.Context) error {
			return func(ctx context.Context) error { _, err := collectives.Alloc[int32](ctx, x.team, 5); return err }
		}, "alloc of 20 bytes"},
		{"release", func(x *parted) func(context.Context) error {
			return func(ctx context.Context) error { return collectives.Release(ctx, x.team, x.heap) }
		}, "release of allocation 1"},
	}
}

// Goal: members whose calls do not match find that out, though none of their calls lasts for the patience of the team.
// Method: rank 1 makes another call than the others, in all pairs, in slices. All get an error that names both calls, and
// the team works after a reset.
func TestMismatchInSlices(t *testing.T) {
	calls := slicedCalls()
	onManyTeams(t, len(calls), func(ctx context.Context, team *collectives.Team, i int) error {
		for k, two := range calls {
			if k == i {
				continue
			}
			if err := disagreeInSlices(ctx, team, calls[i], two); err != nil {
				return fmt.Errorf("%s, and at rank 1 %s: %w", calls[i].name, two.name, err)
			}
		}
		return nil
	})
}

func disagreeInSlices(ctx context.Context, team *collectives.Team, one, two slicedCall) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	x, err := newParted(ctx, team)
	if err != nil {
		return err
	}
	for _, c := range slicedCalls()[:4] {
		call := c.call(x)
		if err := errors.Join(call(ctx), call(ctx)); err != nil {
			return err
		}
	}
	mine := one
	if team.Rank() == 1 {
		mine = two
	}
	barrier := func(ctx context.Context) error { return collectives.Barrier(ctx, team) }
	// A rank that only sends may end a call that the others do not make, and learns of it in a later one.
	for err = sliced(ctx, mine.call(x)); err == nil; {
		err = sliced(ctx, barrier)
	}
	if err := mismatched(err, one.says, two.says); err != nil {
		return err
	}
	if err := team.Reset(ctx); err != nil {
		return err
	}
	return works(ctx, x)
}

// Goal: members look for no reason, which would be a message to everybody, while calls in slices get on.
// Method: a member comes late to each of many calls, by more than a slice and less than the patience of the team. The other
// writes as often as in a team that never looks.
func TestShortSlicesAreNoStall(t *testing.T) {
	writes := func(patience time.Duration) (n uint64) {
		synctest.Test(t, func(t *testing.T) {
			err := gaspi.Local(t.Context(), 2, small, func(ctx context.Context, p *gaspi.Proc) error {
				team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
				if err != nil {
					return err
				}
				defer team.Close()
				if patience > 0 {
					collectives.SetPatience(team, patience)
				}
				v := make([]int64, 3)
				for range 20 {
					if p.Rank() == 1 {
						time.Sleep(150 * time.Millisecond) // sleep: of the bubble's clock, a member that comes late
					}
					err := sliced(ctx, func(ctx context.Context) error { return collectives.AllReduce(ctx, team, v, collectives.Sum) })
					if err != nil {
						return err
					}
				}
				if p.Rank() == 0 {
					n = p.Stats().Writes
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		return n
	}
	if got, want := writes(0), writes(1<<62); got != want {
		t.Errorf("%d writes, want %d", got, want)
	}
}
