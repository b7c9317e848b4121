package collectives_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestDeathEndsWhatGoesOnAlone has a rank return with an error while the others wait for a channel
// alone. Their errors are those of a team whose callers make progress.
func TestDeathEndsWhatGoesOnAlone(t *testing.T) {
	const ranks, victim = 3, 1
	errorOf := func(mode collectives.Progress) string {
		ctx := testenv.Context(t)
		cfg := small
		cfg.KeepGoing = true
		said := make(chan string, ranks)
		started := make(chan struct{}, ranks) // by survivors, none of which may hear of the death before
		err := gaspi.Local(ctx, ranks, cfg, func(ctx context.Context, p *gaspi.Proc) error {
			team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Progress: mode})
			if err != nil {
				return err
			}
			if err := collectives.Barrier(ctx, team); err != nil {
				return err
			}
			if p.Rank() == victim {
				for range ranks - 1 {
					if err := await(ctx, started); err != nil {
						return err
					}
				}
				return errDied
			}
			h, err := collectives.Start(ctx, team, collectives.AllReduceTask(make([]int32, 5), collectives.Sum))
			if err != nil {
				return err
			}
			started <- struct{}{}
			if mode != collectives.Caller {
				if err := await(ctx, h.Done()); err != nil {
					return err
				}
			}
			err = h.Wait(ctx)
			if err := names(err, victim); err != nil {
				return err
			}
			said <- err.Error()
			return nil
		})
		if err == nil || err.Error() != fmt.Sprintf("rank %d: %v", victim, errDied) {
			t.Errorf("%v: %v", mode, err)
		}
		return <-said
	}
	if own, background := errorOf(collectives.Caller), errorOf(collectives.Background); own != background {
		t.Errorf("in the background:\n%s\nwant\n%s", background, own)
	}
}
