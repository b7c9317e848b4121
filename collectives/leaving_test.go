package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// Goal: a run that ends early in any of its waits, the last one among them, which is for its own
// puts to leave, goes on behind what it has done. The network is so slow that puts still leave when
// all that a rank waits for has come, and the arena so small that the members agree on a plan
// before its first run.
func TestRunsEndEarlyInEachWait(t *testing.T) {
	for _, op := range []string{"AllReduce", "ReduceScatterV"} {
		t.Run(op, func(t *testing.T) {
			cut := 0
			cfg := gaspi.Config{Emulate: "bandwidth=20MB/s"}
			ranktest.Local(t, 3, cfg, func(ctx context.Context, p *gaspi.Proc) error {
				team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Scratch: 1 << 12})
				if err != nil {
					return err
				}
				names, err := algorithmsOf(team, op)
				if err != nil {
					return err
				}
				for _, name := range names {
					n, err := endInEachWait(ctx, team, op, name)
					if err != nil {
						return fmt.Errorf("%s by %s: %w", op, name, err)
					}
					if p.Rank() == 0 {
						cut += n
					}
				}
				return team.Close()
			})
			if cut == 0 {
				t.Error("no run has ended early")
			}
		})
	}
}

// leavingCounts are the lengths of the blocks, in elements: what one member gets is soon there, and
// what it sends leaves for milliseconds.
var leavingCounts = []int{5, 700, 9000}

// leaving is a task of 3 members, and the part of a vector that a member gets.
func leaving(team *collectives.Team, op string, src, dst []float64, opts ...collectives.Option) collectives.Task {
	if op == "AllReduce" {
		return collectives.AllReduceIntoTask(dst, src, collectives.Sum, opts...)
	}
	return collectives.ReduceScatterVTask(team, dst, src, leavingCounts, collectives.Sum, opts...)
}

func leavingVectors(team *collectives.Team, op string) (src, dst []float64) {
	src = make([]float64, 9705)
	if op == "AllReduce" {
		return src, make([]float64, len(src))
	}
	return src, make([]float64, leavingCounts[team.Rank()])
}

func algorithmsOf(team *collectives.Team, op string) ([]string, error) {
	src, dst := leavingVectors(team, op)
	candidates, err := collectives.Explain(team, leaving(team, op, src, dst))
	var names []string
	for _, c := range candidates {
		names = append(names, c.Algorithm)
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// endInEachWait makes plans, whose first runs end at their first look at the context, their second
// one, and so on, and returns how many did.
func endInEachWait(ctx context.Context, team *collectives.Team, op, name string) (cut int, err error) {
	for looks := 1; looks <= 12; looks++ {
		src, dst := leavingVectors(team, op)
		plan, err := collectives.NewPlan(ctx, team, leaving(team, op, src, dst, collectives.Algorithm(name)))
		if err != nil {
			return cut, err
		}
		for run := range 3 {
			for i := range src {
				src[i] = float64(int(1) << (8*team.Rank() + run))
			}
			err := plan.Run(ranktest.EndAfter(ctx, looks))
			for errors.Is(err, context.Canceled) && ctx.Err() == nil {
				cut++
				err = plan.Run(ctx)
			}
			if err != nil {
				return cut, err
			}
			want := float64((1 + 1<<8 + 1<<16) * (int(1) << run))
			if i := slices.IndexFunc(dst, func(x float64) bool { return x != want }); i >= 0 {
				return cut, fmt.Errorf("look %d, run %d, element %d: %#x, want %#x", looks, run, i, int(dst[i]), int(want))
			}
		}
		if err := collectives.Barrier(ctx, team); err != nil {
			return cut, err
		}
		if err := plan.Close(); err != nil {
			return cut, err
		}
	}
	return cut, nil
}
