package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/collectives/internal/agreement"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// TestMismatchFarBehind has rank 1 make many calls that wait for nobody, more than members tell each
// other of, and then one that waits, while the others are in a call of each sort that waits for
// rank 1. All get an error, which tells of a call of both, and the team works when it is reset.
func TestMismatchFarBehind(t *testing.T) {
	onTeamEach(t, partners(), func(ctx context.Context, team *collectives.Team, p partner) error {
		for _, ahead := range []int{agreement.Window - 1, agreement.Window, agreement.Window + 1, 3 * agreement.Window} {
			for _, last := range []string{"barrier", "alloc", "reset"} {
				if err := farBehind(ctx, team, p, ahead, last); err != nil {
					return fmt.Errorf("%s at rank 1 after %d calls: %w", last, ahead, err)
				}
			}
		}
		return nil
	})
}

// farBehind has rank 1 make so many calls that wait for nobody, and last, while the others call p.
func farBehind(ctx context.Context, team *collectives.Team, p partner, ahead int, last string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	x, err := newParted(ctx, team)
	if err != nil {
		return err
	}
	// Rank 1 has no part in it.
	idle, err := collectives.NewPlan(ctx, team, collectives.ReduceTask(0, make([]int32, 3), collectives.Sum, collectives.Processes(0.1)))
	if err == nil {
		err = idle.Run(ctx)
	}
	if err != nil {
		return err
	}
	if team.Rank() != 1 {
		err = p.call(ctx, x)
	}
	for range ahead {
		if err == nil && team.Rank() == 1 {
			err = idle.Run(ctx)
		}
	}
	switch {
	case err != nil || team.Rank() != 1:
	case last == "barrier":
		err = collectives.Barrier(ctx, team)
	case last == "alloc":
		_, err = collectives.Alloc[int32](ctx, team, 3)
	}
	for err == nil && (team.Rank() != 1 || last != "reset") {
		err = collectives.Barrier(ctx, team)
	}
	if team.Rank() != 1 || last != "reset" {
		if err := mismatched(err); err != nil {
			return err
		}
	}
	if err := team.Reset(ctx); err != nil {
		return err
	}
	return errors.Join(works(ctx, x), idle.Close())
}

// TestResetWithoutALeaver has a member leave the job, before or in a Reset. The others stay, and get
// an error from theirs that names it; they shrink the team.
func TestResetWithoutALeaver(t *testing.T) {
	for size := 2; size <= 5; size++ {
		for leaver := range gaspi.Rank(size) {
			for looks := range 4 {
				t.Run(fmt.Sprintf("rank %d of %d leaves at look %d", leaver, size, looks), func(t *testing.T) {
					mortals(t, size, func(ctx context.Context, p *gaspi.Proc) error {
						team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
						if err != nil {
							return err
						}
						if p.Rank() == leaver {
							if looks > 0 {
								_ = team.Reset(endAfter(ctx, looks)) // which ends with the context, or well
							}
							return nil
						}
						return stayBehind(ctx, team, leaver)
					})
				})
			}
		}
	}
}

// stayBehind resets a team of which a member leaves until that fails, and sums over those that are
// left. The ranks leave together: nobody is told of it by the end of another one.
func stayBehind(ctx context.Context, team *collectives.Team, leaver gaspi.Rank) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err := team.Reset(ctx)
	for ; err == nil; err = team.Reset(ctx) { // the leaver has been in these
	}
	if left, ok := errors.AsType[*gaspi.RankError](err); !ok || left.Rank != leaver {
		return fmt.Errorf("got %w, want an error of rank %d", err, leaver)
	}
	next, err := team.Shrink(ctx)
	if err != nil {
		return err
	}
	sum := []int64{1}
	if err := collectives.AllReduce(ctx, next, sum, collectives.Sum); err != nil {
		return err
	}
	if sum[0] != int64(team.Size()-1) {
		return fmt.Errorf("the sum is %d, want %d", sum[0], team.Size()-1)
	}
	return nil
}
