package collectives_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Goal: a member that waits in each of many calls, in none of them for the patience of the team, looks for no
// reason, which would be a message to everybody.
// Method: a member comes late to calls of new shapes, which are agreed on first, and to started ones. The
// other writes as often as in a team that never looks.
func TestShortWaitsAreNoStall(t *testing.T) {
	writes := func(cfg collectives.Config, patience time.Duration) (n uint64) {
		synctest.Test(t, func(t *testing.T) {
			err := gaspi.Local(t.Context(), 2, small, func(ctx context.Context, p *gaspi.Proc) error {
				team, err := collectives.NewTeam(ctx, p.World(), cfg)
				if err != nil {
					return err
				}
				defer team.Close()
				if patience > 0 {
					collectives.SetPatience(team, patience)
				}
				var last *collectives.Handle // one is always under way
				for i := range 40 {
					if p.Rank() == 1 {
						time.Sleep(90 * time.Millisecond) // sleep: of the bubble's clock, a member that comes late
					}
					h, err := collectives.Start(ctx, team, collectives.AllReduceTask(make([]int64, 1+i), collectives.Sum))
					if err != nil {
						return err
					}
					if last != nil && cfg.Progress == collectives.Background {
						<-last.Done()
					} else if last != nil {
						err = last.Wait(ctx)
					}
					if last = h; err != nil {
						return err
					}
				}
				if err := last.Wait(ctx); err != nil {
					return err
				}
				if p.Rank() == 0 {
					n = p.Stats().Writes // not the notifications by which a member wakes itself
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		return n
	}
	for _, progress := range []collectives.Progress{collectives.Caller, collectives.Background} {
		cfg := collectives.Config{Progress: progress}
		if got, want := writes(cfg, 0), writes(cfg, 1<<62); got != want {
			t.Errorf("%v: %d writes, want %d", progress, got, want)
		}
	}
}
