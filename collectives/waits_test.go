package collectives_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Goal: gaspi-run is told for whom an operation still waits, also when the others come one by one, and
// nothing while that is the same.
func TestSleepTellsWhoIsStillMissing(t *testing.T) {
	const ranks = 3
	var wait [ranks]chan struct{} // until a rank may come
	synctest.Test(t, func(t *testing.T) {
		for i := range wait {
			wait[i] = make(chan struct{})
		}
		err := gaspi.Local(t.Context(), ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
			team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
			if err != nil {
				return err
			}
			defer team.Close()
			all, own := make([]int64, ranks), []int64{int64(p.Rank())}
			gather := func() error {
				return collectives.Gather(ctx, team, 0, all, own, collectives.Algorithm("eager"))
			}
			if err := gather(); err != nil { // so that the next one agrees on nothing
				return err
			}
			if err := collectives.Barrier(ctx, team); err != nil {
				return err
			}
			if p.Rank() > 0 {
				<-wait[p.Rank()]
				return gather()
			}
			collectives.SetPatience(team, 1<<62) // it tells nobody else
			ended := make(chan error)
			go func() { ended <- gather() }()
			from := collectives.TellSleep(team)
			for missing := []gaspi.Rank{1, 2}; len(missing) > 0; missing = missing[1:] {
				synctest.Wait()
				got, changed := from()
				slices.Sort(got)
				if !changed || !slices.Equal(got, missing) {
					t.Errorf("told of %v, want %v", got, missing)
				}
				if got, changed := from(); changed {
					t.Errorf("told of %v again", got)
				}
				close(wait[missing[0]])
			}
			return <-ended
		})
		if err != nil {
			t.Error(err)
		}
	})
}
