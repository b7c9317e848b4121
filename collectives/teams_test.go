package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// group commits a group of ranks.
func group(ctx context.Context, p *gaspi.Proc, ranks ...gaspi.Rank) (*gaspi.Group, error) {
	g, err := p.NewGroup(ranks...)
	if err != nil {
		return nil, err
	}
	return g, g.Commit(ctx)
}

// contains reports whether a rank is one of some.
func contains(ranks []gaspi.Rank, r gaspi.Rank) bool {
	for _, x := range ranks {
		if x == r {
			return true
		}
	}
	return false
}

// exercise runs an instance of every algorithm on a team.
func exercise(ctx context.Context, m *member, seed uint64, report func(error)) error {
	for _, x := range mixture(seed, m.team.Size()) {
		if err := m.run(ctx, x, report); err != nil {
			return err
		}
	}
	return nil
}

// TestTeams runs every algorithm on teams of the world, of half of it, of it in
// reverse, of the odd and of the even ranks, and of one rank alone.
func TestTeams(t *testing.T) {
	const ranks = 6
	world := []gaspi.Rank{0, 1, 2, 3, 4, 5}
	for _, c := range []struct {
		name   string
		groups [][]gaspi.Rank // apart
		order  []gaspi.Rank   // of the first
	}{
		{"world", [][]gaspi.Rank{world}, nil},
		{"half", [][]gaspi.Rank{{0, 1, 2}}, nil},
		{"reversed", [][]gaspi.Rank{world}, []gaspi.Rank{5, 4, 3, 2, 1, 0}},
		{"any order", [][]gaspi.Rank{{1, 3, 4, 5}}, []gaspi.Rank{4, 1, 5, 3}},
		{"odd and even", [][]gaspi.Rank{{0, 2, 4}, {1, 3, 5}}, nil},
		{"one", [][]gaspi.Rank{{3}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			reports := &reporter{log: func(err error) { t.Error(err) }}
			ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
				for _, mine := range c.groups {
					if !contains(mine, p.Rank()) {
						continue
					}
					g, err := group(ctx, p, mine...)
					if err != nil {
						return err
					}
					m, err := newMember(ctx, g, collectives.Config{Order: c.order})
					if err != nil {
						return err
					}
					if c.order != nil && c.order[m.rank] != p.Rank() {
						return fmt.Errorf("rank %d is number %d of %v", p.Rank(), m.rank, c.order)
					}
					if err := exercise(ctx, m, 11, reports.report); err != nil {
						return err
					}
					if err := m.close(ctx); err != nil {
						return err
					}
				}
				return p.Barrier(ctx, p.World())
			})
		})
	}
}

// TestOverlappingTeams has operations of three teams under way at once, of which a
// rank is in one, two or all.
func TestOverlappingTeams(t *testing.T) {
	groups := [][]gaspi.Rank{{0, 1, 2, 3}, {1, 2, 3, 4}, {3, 1}}
	ranktest.Local(t, 5, small, func(ctx context.Context, p *gaspi.Proc) error {
		var mine []*collectives.Team
		for _, ranks := range groups {
			if !contains(ranks, p.Rank()) {
				continue
			}
			g, err := group(ctx, p, ranks...)
			if err != nil {
				return err
			}
			team, err := collectives.NewTeam(ctx, g, collectives.Config{})
			if err != nil {
				return err
			}
			mine = append(mine, team)
		}
		for round := range 50 {
			bufs := make([][]int32, len(mine))
			handles := make([]*collectives.Handle, len(mine))
			for i, team := range mine {
				bufs[i] = vector(20+team.Size(), func(k int) int32 { return int32(k*round + int(p.Rank())) })
				h, err := collectives.Start(ctx, team, collectives.AllReduceTask(bufs[i], collectives.Sum))
				if err != nil {
					return err
				}
				handles[i] = h
			}
			for i := range mine { // the last first: nobody waits in a circle, since a wait for one team needs only its members' starts
				i = len(mine) - 1 - i
				if err := handles[i].Wait(ctx); err != nil {
					return err
				}
				sum := 0
				for _, r := range mine[i].Ranks() {
					sum += int(r)
				}
				if err := matches(fmt.Sprintf("team %v", mine[i].Ranks()), bufs[i], func(k int) int32 { return int32(k*round*mine[i].Size() + sum) }); err != nil {
					return err
				}
			}
		}
		for _, team := range mine {
			if err := collectives.Barrier(ctx, team); err != nil {
				return err
			}
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		for _, team := range mine {
			if err := team.Close(); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestTeamsOfOtherConfigurations are refused on all members.
func TestTeamsOfOtherConfigurations(t *testing.T) {
	ranktest.Local(t, 3, small, func(ctx context.Context, p *gaspi.Proc) error {
		for _, c := range []struct {
			name  string
			one   collectives.Config // of rank 1
			error string             // there
			cause error
		}{
			{"other slots", collectives.Config{Slots: 100}, "given different configurations", gaspi.ErrMismatch},
			{"other algorithms", collectives.Config{Algorithms: "allreduce:ring"}, "given different configurations", gaspi.ErrMismatch},
			{"bad order", collectives.Config{Order: []gaspi.Rank{0, 0, 1}}, "does not name each of the ranks [0 1 2] once", gaspi.ErrBadRank},
			{"bad algorithm", collectives.Config{Algorithms: "allreduce:zigzag"}, `allreduce has no algorithm "zigzag"; it has `, nil},
			{"bad operation", collectives.Config{Algorithms: "allraise:ring"}, "expected an operation and an algorithm, such as allreduce:ring", nil},
		} {
			cfg := collectives.Config{}
			if p.Rank() == 1 {
				cfg = c.one
			}
			_, err := collectives.NewTeam(ctx, p.World(), cfg)
			switch {
			case err == nil:
				return fmt.Errorf("%s: accepted", c.name)
			case p.Rank() == 1 && (!strings.Contains(err.Error(), c.error) || c.cause != nil && !errors.Is(err, c.cause)):
				return fmt.Errorf("%s: %w does not say %q", c.name, err, c.error)
			case p.Rank() != 1 && !errors.Is(err, gaspi.ErrMismatch):
				return fmt.Errorf("%s: got %w elsewhere, want %w", c.name, err, gaspi.ErrMismatch)
			}
		}
		return nil
	})
}
