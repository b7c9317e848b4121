package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/collectives/internal/oracle"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allocations is how often a run allocates, on all ranks together: rank 0 counts.
func allocations(ctx context.Context, p *gaspi.Proc, runs int, run func() error) (n float64, err error) {
	if err := p.Barrier(ctx, p.World()); err != nil {
		return 0, err
	}
	do := func() {
		if rerr := run(); rerr != nil {
			err = rerr
		}
	}
	if p.Rank() == 0 {
		n = testing.AllocsPerRun(runs, do)
	} else {
		for range runs + 1 { // AllocsPerRun runs once more than it counts
			do()
		}
	}
	return n, errors.Join(err, p.Barrier(ctx, p.World()))
}

// TestRunsAllocateNothing runs plans of every algorithm again and again. Most
// waits sleep.
func TestRunsAllocateNothing(t *testing.T) {
	const ranks, runs = 3, 50
	d := newDealer(4, 1<<10)
	var all []*instance
	for _, a := range algorithms.All() {
		x := d.draw(ranks, a.Op, a.Name)
		x.memory = memory(len(all) % 2)
		all = append(all, x)
	}
	ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
		m, err := newMember(ctx, p.World(), collectives.Config{})
		if err != nil {
			return err
		}
		collectives.SetPatience(m.team, time.Hour)
		for _, x := range all {
			m.own.next, m.reached.next = 0, 0
			b, err := m.bind(ctx, x, 0)
			if err != nil {
				return err
			}
			plan, err := collectives.NewPlan(ctx, m.team, b.call)
			if err != nil {
				return fmt.Errorf("%v: %w", x, err)
			}
			for range 3 {
				if err := plan.Run(ctx); err != nil {
					return err
				}
			}
			n, err := allocations(ctx, p, runs, func() error { return plan.Run(ctx) })
			if err != nil {
				return err
			}
			if n > 0 {
				t.Errorf("%v: %v allocations in a run", x, n)
			}
		}
		return m.close(ctx)
	})
}

// TestRepeatedCallsAllocateNothing is single calls like the ones before.
func TestRepeatedCallsAllocateNothing(t *testing.T) {
	const runs = 100
	for _, how := range []string{"direct", "doubling", "flip", ""} {
		cfg := collectives.Config{}
		if how != "" {
			cfg.Algorithms = "allreduce:" + how
		}
		if _, err := algorithms.Lookup(schedule.AllReduce, how); how != "" && err != nil {
			continue
		}
		onTeam(t, 2, cfg, func(ctx context.Context, team *collectives.Team) error {
			collectives.SetPatience(team, time.Hour)
			heap, err := collectives.Alloc[float64](ctx, team, 100)
			if err != nil {
				return err
			}
			for _, buf := range [][]float64{heap, make([]float64, 100)} {
				call := func() error { return collectives.AllReduce(ctx, team, buf, collectives.Sum) }
				for range 3 {
					if err := call(); err != nil {
						return err
					}
				}
				n, err := allocations(ctx, team.Group().Proc(), runs, call)
				if err != nil {
					return err
				}
				if n > 0 {
					t.Errorf("%q: %v allocations in a call", how, n)
				}
			}
			return nil
		})
	}
}

// TestMessagesAreThoseOfTheModel counts puts and bytes of a run by the runtime's
// statistics: they are what package price says.
func TestMessagesAreThoseOfTheModel(t *testing.T) {
	const count = 1000
	sum := builtin(oracle.Float64s(collectives.Sum), collectives.Sum)
	move := moved(oracle.Moved(func(h uint64) float64 { return float64(h >> 12) }))
	for _, c := range []struct {
		op        schedule.Operation
		algorithm string
		kind      kind
	}{
		{schedule.AllReduce, "ring", sum}, {schedule.AllReduce, "doubling", sum}, {schedule.AllReduce, "binomial", sum},
		{schedule.AllReduce, "halving", sum}, {schedule.AllReduce, "gloo-ring-chunked", sum},
		{schedule.ReduceScatter, "ring", sum}, {schedule.Reduce, "binomial", sum},
		{schedule.Broadcast, "flat", move}, {schedule.Broadcast, "binomial", move}, {schedule.AllGather, "ring", move},
		{schedule.AllToAll, "direct", move}, {schedule.Gather, "flat", move},
	} {
		for _, ranks := range []int{2, 4, 7} {
			t.Run(fmt.Sprintf("%v/%s of %d", c.op, c.algorithm, ranks), func(t *testing.T) {
				x := &instance{seed: 1, ranks: ranks, op: c.op, algorithm: c.algorithm, kind: c.kind, count: count, memory: allocated, vectors: 1}
				x.inPlace = x.placed(true)
				if c.op == schedule.AllToAll {
					x.inPlace = false
				}
				puts, bytes := measured(t, x)
				a, err := algorithms.Lookup(c.op, c.algorithm)
				if err != nil {
					t.Fatal(err)
				}
				call := schedule.Call{Op: c.op, Size: ranks, Count: count, InPlace: x.inPlace, Line: 8}
				want, err := price.Cost(&call, a.Emit)
				if err != nil {
					t.Fatal(err)
				}
				if puts != want.Puts || bytes != 8*want.Total {
					t.Errorf("%d puts of the busiest rank and %d bytes of all, want %d and %d", puts, bytes, want.Puts, 8*want.Total)
				}
			})
		}
	}
}

// measured is how many writes the busiest rank issues in a run, and how many bytes
// all do.
func measured(t *testing.T, x *instance) (puts, bytes int) {
	t.Helper()
	stats := make([]gaspi.Stats, x.ranks)
	ranktest.Local(t, x.ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
		m, err := newMember(ctx, p.World(), collectives.Config{})
		if err != nil {
			return err
		}
		b, err := m.bind(ctx, x, 0)
		if err != nil {
			return err
		}
		plan, err := collectives.NewPlan(ctx, m.team, b.call)
		if err != nil {
			return err
		}
		b.fill(0)
		if err := plan.Run(ctx); err != nil { // with it the members agree
			return err
		}
		before := p.Stats()
		if err := plan.Run(ctx); err != nil {
			return err
		}
		after := p.Stats()
		stats[m.rank] = gaspi.Stats{Writes: after.Writes - before.Writes, BytesWritten: after.BytesWritten - before.BytesWritten}
		return m.close(ctx)
	})
	for _, s := range stats {
		bytes += int(s.BytesWritten)
	}
	busiest := slices.MaxFunc(stats, func(a, b gaspi.Stats) int { return int(a.Writes) - int(b.Writes) })
	return int(busiest.Writes), bytes
}
