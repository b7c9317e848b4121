package collectives_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// onTeam runs main on every member of a team of all ranks of a job in this process.
func onTeam(t *testing.T, ranks int, cfg collectives.Config, main func(ctx context.Context, team *collectives.Team) error) {
	t.Helper()
	onTeamOf(t, small, ranks, cfg, main)
}

// onTeamOf is onTeam in a job with a configuration of its own.
func onTeamOf(t *testing.T, job gaspi.Config, ranks int, cfg collectives.Config, main func(ctx context.Context, team *collectives.Team) error) {
	t.Helper()
	ranktest.Local(t, ranks, job, func(ctx context.Context, p *gaspi.Proc) error {
		team, err := collectives.NewTeam(ctx, p.World(), cfg)
		if err != nil {
			return err
		}
		if err := main(ctx, team); err != nil {
			return err
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		return team.Close()
	})
}

// vector is n elements that a function of the index makes.
func vector[T any](n int, of func(i int) T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = of(i)
	}
	return all
}

// matches returns how got differs from want, or nil.
func matches[T comparable](what string, got []T, want func(i int) T) error {
	for i, x := range got {
		if w := want(i); x != w {
			return fmt.Errorf("%s: element %d of %d is %v, want %v", what, i, len(got), x, w)
		}
	}
	return nil
}

// await waits for another rank's goroutine.
func await(ctx context.Context, ch <-chan struct{}) error {
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
