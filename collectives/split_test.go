package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// Goal: Splits of two teams of equal members do not touch each other, in any order at each member.
func TestSplitsOfTwoTeamsAtATime(t *testing.T) {
	mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		var teams [2]*collectives.Team
		for i := range teams {
			team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Tag: gaspi.Tag(i)})
			if err != nil {
				return err
			}
			teams[i] = team
		}
		var both sync.WaitGroup
		var failed [2]error
		for i, team := range teams {
			both.Go(func() {
				for round := range 20 {
					time.Sleep(time.Duration((i+int(p.Rank())+round)%2) * time.Second) // sleep: in a bubble, until all others sleep
					if failed[i] = splitAndSum(ctx, team, int64(1+10*i)); failed[i] != nil {
						return
					}
				}
			})
		}
		both.Wait()
		return errors.Join(failed[:]...)
	})
}

// splitAndSum splits a team into one of all members, and sums x up over these.
func splitAndSum(ctx context.Context, team *collectives.Team, x int64) error {
	part, err := team.Split(ctx, 0, 0)
	if err != nil {
		return err
	}
	sum := []int64{x}
	if err := collectives.AllReduce(ctx, part, sum, collectives.Sum); err != nil {
		return err
	}
	if want := x * int64(team.Size()); sum[0] != want {
		return fmt.Errorf("the sum is %d, want %d", sum[0], want)
	}
	return part.Close()
}

// endAfter returns a context that ends at one of the looks at it.
func endAfter(ctx context.Context, looks int) context.Context { return ranktest.EndAfter(ctx, looks) }

// Goal: wherever a Split ends early at one member, Revoke ends it at the others, and all go on:
// they shrink the team, and split what they get, also into teams of equal ranks.
func TestRevokeEndsSplit(t *testing.T) {
	for _, independent := range []bool{false, true} {
		t.Run(fmt.Sprintf("independent %v", independent), func(t *testing.T) {
			mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
				team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Independent: independent})
				if err != nil {
					return err
				}
				segments := len(p.Segments())
				for looks := 1; ; looks++ {
					done, err := revokeSplit(ctx, p, &team, looks)
					if done || err != nil {
						return err
					}
					if now := len(p.Segments()); now != segments {
						return fmt.Errorf("the rank has %d segments after %d looks, %d before", now, looks, segments)
					}
				}
			})
		})
	}
}

// revokeSplit splits a team, ended early at rank 1, and replaces it. It reports whether rank 1
// looked at its context less often.
func revokeSplit(ctx context.Context, p *gaspi.Proc, team **collectives.Team, looks int) (done bool, err error) {
	limited := ctx
	if p.Rank() == 1 {
		limited = endAfter(ctx, looks)
	}
	part, err := (*team).Split(limited, min(int(p.Rank()), 1), 0)
	if p.Rank() == 1 && err != nil {
		if !errors.Is(err, context.Canceled) {
			return false, fmt.Errorf("look %d: %w", looks, err)
		}
		if err := (*team).Revoke(nil); err != nil {
			return false, err
		}
	} else if err != nil && !errors.Is(err, gaspi.ErrRevoked) {
		return false, fmt.Errorf("look %d, rank %d: %w", looks, p.Rank(), err)
	}
	made := uint32(1)
	if err != nil {
		made = 0
	}
	if made, err = (*team).Agree(ctx, made); err != nil {
		return false, err
	}
	next, err := (*team).Shrink(ctx)
	if err != nil {
		return false, fmt.Errorf("look %d: %w", looks, err)
	}
	if part != nil {
		err = part.Close()
	}
	err = errors.Join(err, (*team).Close())
	*team = next
	return made == 1, errors.Join(err, splitAndSum(ctx, next, 3))
}

// TestSplitWithoutGroupNumbers has one member run out of group numbers, of which a Split takes up to
// three. All get an error, the team works, and splits when the member has given back what it had.
func TestSplitWithoutGroupNumbers(t *testing.T) {
	for _, independent := range []bool{false, true} {
		for poor := range gaspi.Rank(3) {
			for left := range 3 {
				t.Run(fmt.Sprintf("independent %v, rank %d has %d", independent, poor, left), func(t *testing.T) {
					mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
						team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Independent: independent})
						if err != nil {
							return err
						}
						return splitPoor(ctx, team, p.Rank() == poor, left)
					})
				})
			}
		}
	}
}

// splitPoor splits a team into its first member and the others, of which a poor one has so many
// group numbers left.
func splitPoor(ctx context.Context, team *collectives.Team, poor bool, left int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	p := team.Group().Proc()
	var taken []*gaspi.Group
	for poor {
		g, err := p.NewGroup()
		if errors.Is(err, gaspi.ErrTooMany) {
			break
		}
		if err != nil {
			return err
		}
		taken = append(taken, g)
	}
	for poor && left > 0 {
		if err := taken[0].Delete(); err != nil {
			return err
		}
		taken, left = taken[1:], left-1
	}
	part, err := team.Split(ctx, min(team.Rank(), 1), 0)
	switch {
	case err == nil:
		err = part.Close()
	case errors.Is(err, gaspi.ErrTooMany) || !poor && errors.Is(err, gaspi.ErrMismatch):
		err = nil
	}
	if err != nil {
		return err
	}
	for _, g := range taken {
		if err := g.Delete(); err != nil {
			return err
		}
	}
	if err := splitAndSum(ctx, team, 3); err != nil {
		return fmt.Errorf("with numbers again: %w", err)
	}
	return team.Close()
}
