package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// sumOver sums 1 up over a team of some ranks.
func sumOver(ctx context.Context, team *collectives.Team, ranks ...gaspi.Rank) error {
	sum := []int64{1}
	if err := collectives.AllReduce(ctx, team, sum, collectives.Sum); err != nil {
		return err
	}
	if !slices.Equal(team.Ranks(), ranks) || sum[0] != int64(len(ranks)) {
		return fmt.Errorf("the team is of %v, with a sum of %d, want %v", team.Ranks(), sum[0], ranks)
	}
	return nil
}

// Goal: wherever a Shrink ends early at one member, of a team that was revoked or not, the same
// call again goes on there, and the others get the team. Until then Agree is refused.
func TestShrinkGoesOn(t *testing.T) {
	for cutAt := range gaspi.Rank(3) {
		for _, revoked := range []bool{false, true} {
			t.Run(fmt.Sprintf("rank %d, revoked %v", cutAt, revoked), func(t *testing.T) {
				mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
					team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
					if err != nil {
						return err
					}
					segments := len(p.Segments())
					for looks := 1; ; looks++ {
						if err := p.Barrier(ctx, p.World()); err != nil {
							return err
						}
						if revoked && p.Rank() == 0 {
							if err := team.Revoke(nil); err != nil {
								return err
							}
						}
						next, cut, err := shrinkAgain(ctx, team, p.Rank() == cutAt, looks)
						if err != nil {
							return fmt.Errorf("look %d: %w", looks, err)
						}
						if err := errors.Join(sumOver(ctx, next, 0, 1, 2), team.Close()); err != nil {
							return fmt.Errorf("look %d: %w", looks, err)
						}
						if now := len(p.Segments()); now != segments {
							return fmt.Errorf("look %d: the rank has %d segments, %d before", looks, now, segments)
						}
						team = next
						was := []int64{cut}
						if err := collectives.AllReduce(ctx, team, was, collectives.Max); err != nil || was[0] == 0 {
							return err
						}
					}
				})
			})
		}
	}
}

// shrinkAgain shrinks a team, and once more if the first call was ended early, as it is at one member. cut is
// 1 then.
func shrinkAgain(ctx context.Context, team *collectives.Team, here bool, looks int) (next *collectives.Team, cut int64, err error) {
	if !here {
		next, err = team.Shrink(ctx)
		return next, 0, err
	}
	next, err = team.Shrink(ranktest.EndAfter(ctx, looks))
	if !errors.Is(err, context.Canceled) {
		return next, 0, err
	}
	if _, err := team.Agree(ctx, 1); !errors.Is(err, gaspi.ErrInUse) {
		return nil, 1, fmt.Errorf("Agree before the Shrink has ended: %w", err)
	}
	next, err = team.Shrink(ctx)
	return next, 1, err
}

// Goal: wherever a Shrink ends early at one member that then ends itself, the others get a team
// without it.
func TestShrinkWithoutTheOneThatEndedEarly(t *testing.T) {
	for name, end := range map[string]func(team *collectives.Team) error{
		"dies":              func(*collectives.Team) error { return errDies },
		"closes and dies":   func(team *collectives.Team) error { return errors.Join(team.Close(), errDies) },
		"closes and leaves": func(team *collectives.Team) error { return team.Close() },
	} {
		for cutAt := range gaspi.Rank(3) {
			t.Run(fmt.Sprintf("rank %d %s", cutAt, name), func(t *testing.T) {
				cut := true
				for looks := 1; cut; looks++ {
					cut = false
					var made sync.WaitGroup // NewTeam is over: it may fail where a member dies meanwhile
					begin := sync.OnceFunc(func() { made.Add(3) })
					mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
						begin()
						team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
						made.Done()
						made.Wait()
						if err != nil {
							return err
						}
						if p.Rank() == cutAt {
							if _, err = team.Shrink(ranktest.EndAfter(ctx, looks)); errors.Is(err, context.Canceled) {
								cut = true
								return end(team)
							}
							return err
						}
						others := slices.DeleteFunc([]gaspi.Rank{0, 1, 2}, func(r gaspi.Rank) bool { return r == cutAt })
						next, err := team.Shrink(ctx)
						for err == nil && next.Size() > len(others) { // it ended late
							if err = collectives.Barrier(ctx, next); !errors.Is(err, gaspi.ErrRankDead) && !errors.Is(err, gaspi.ErrRevoked) {
								return fmt.Errorf("look %d: a barrier of %v: %w", looks, next.Ranks(), err)
							}
							next, err = next.Shrink(ctx)
						}
						if err != nil {
							return fmt.Errorf("look %d: %w", looks, err)
						}
						return sumOver(ctx, next, others...)
					})
				}
			})
		}
	}
}

// Goal: a program may shrink a team by calls whose contexts have ended, again and again.
func TestShrinkByPolling(t *testing.T) {
	onTeam(t, 4, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		over, end := context.WithCancel(ctx)
		end()
		next, err := team.Shrink(over)
		for ; errors.Is(err, context.Canceled) && ctx.Err() == nil; next, err = team.Shrink(over) {
			runtime.Gosched()
		}
		if err != nil {
			return err
		}
		return errors.Join(sumOver(ctx, next, 0, 1, 2, 3), collectives.Barrier(ctx, team), next.Close())
	})
}
