package collectives_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// fractions are thresholds, most of which cut a vector of fractionCount elements
// between two.
func fractions() []float64 { return []float64{1e-9, 0.1, 0.25, 0.5, 0.51, 0.75, 0.999, 1} }

const fractionCount = 101

// value is what member r has in element i in a round.
func value(r, i, round int) int32 { return int32((r+1)*1000 + i*(round+1)) }

// delivered checks a status of a vector of fractionCount elements.
func delivered(s collectives.Status, f float64, ranks []int) error {
	want := int(math.Ceil(f * fractionCount))
	if s.Elements != want || s.Of != fractionCount || !slices.Equal(s.Ranks(), ranks) {
		return fmt.Errorf("status is %d of %d elements of %v, want %d of %d of %v", s.Elements, s.Of, s.Ranks(), want, fractionCount, ranks)
	}
	if got := s.Fraction(); got < f-1e-12 || got > f+1.0/fractionCount {
		return fmt.Errorf("fraction %v of a threshold of %v", got, f)
	}
	return nil
}

func everybody(n int) []int { return vector(n, func(i int) int { return i }) }

// TestBroadcastThreshold broadcasts the first part of vectors from every root, by
// every algorithm: the rest is as it was.
func TestBroadcastThreshold(t *testing.T) {
	for _, ranks := range []int{1, 2, 5, 8} {
		onTeam(t, ranks, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
			heap, err := collectives.Alloc[int32](ctx, team, fractionCount)
			if err != nil {
				return err
			}
			round := 0
			for _, a := range append(algorithms.For(schedule.Broadcast), algorithms.Algorithm{}) {
				for k, f := range fractions() {
					if a.Coded {
						continue
					}
					round++
					root := (round + k) % ranks
					buf := heap
					if round%2 == 0 {
						buf = make([]int32, fractionCount)
					}
					for i := range buf {
						buf[i] = value(team.Rank(), i, round)
					}
					s, err := collectives.Broadcast(ctx, team, root, buf, collectives.Threshold(f), collectives.Algorithm(a.Name))
					if err != nil {
						return err
					}
					what := fmt.Sprintf("%s at %v from %d", a.Name, f, root)
					if err := delivered(s, f, everybody(ranks)); err != nil {
						return fmt.Errorf("%s: %w", what, err)
					}
					if err := matches(what, buf, func(i int) int32 {
						if i < s.Elements {
							return value(root, i, round)
						}
						return value(team.Rank(), i, round)
					}); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
}

// engaged are the members that a process threshold keeps, by the paper: the binomial
// tree from the root grows in stages that double it until there are enough.
func engaged(size, root int, f float64) []int {
	grown := 1
	for float64(grown) < f*float64(size) {
		grown *= 2
	}
	var all []int
	for i := range min(grown, size) {
		all = append(all, (root+i)%size)
	}
	slices.Sort(all)
	return all
}

// TestReduceThresholds reduces the first part of vectors, or those of some ranks, or
// both, to every root: the status says what is in the result, and the rest is as it
// was.
func TestReduceThresholds(t *testing.T) {
	sizes := []int{1, 2, 5, 8}
	if testing.Short() {
		sizes = []int{1, 5}
	}
	for _, ranks := range sizes {
		onTeam(t, ranks, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
			heap, err := collectives.Alloc[int32](ctx, team, fractionCount)
			if err != nil {
				return err
			}
			round := 0
			for _, a := range append(algorithms.For(schedule.Reduce), algorithms.Algorithm{}) {
				for root := range ranks {
					for k, f := range fractions() {
						round++
						buf := heap
						if round%2 == 0 {
							buf = make([]int32, fractionCount)
						}
						data, processes := f, 1.0
						switch round % 3 {
						case 1:
							data, processes = 1, f
						case 2:
							processes = fractions()[(k+3)%len(fractions())]
						}
						if err := reduceSome(ctx, team, a, root, round, buf, data, processes); err != nil {
							return fmt.Errorf("%s to %d at %v of %v: %w", a.Name, root, data, processes, err)
						}
					}
				}
			}
			return nil
		})
	}
}

func reduceSome(ctx context.Context, team *collectives.Team, a algorithms.Algorithm, root, round int, buf []int32, data, processes float64) error {
	opts := []collectives.Option{collectives.Algorithm(a.Name), collectives.Threshold(data)}
	who := everybody(team.Size())
	if processes < 1 {
		who = engaged(team.Size(), root, processes)
		opts = append(opts, collectives.Processes(processes))
	}
	if a.Fits != nil {
		c := schedule.Call{Op: schedule.Reduce, Size: team.Size(), Root: root, Count: fractionCount, Line: 16, Engaged: make([]bool, team.Size())}
		if processes < 1 && a.Fits(&c) != nil {
			return nil // refuses process thresholds
		}
	}
	for i := range buf {
		buf[i] = value(team.Rank(), i, round)
	}
	s, err := collectives.Reduce(ctx, team, root, buf, collectives.Sum, opts...)
	if err != nil {
		return err
	}
	if err := delivered(s, data, who); err != nil {
		return err
	}
	return matches("result", buf, func(i int) int32 {
		if i >= s.Elements || team.Rank() != root {
			return value(team.Rank(), i, round)
		}
		sum := int32(0)
		for _, r := range who {
			sum += value(r, i, round)
		}
		return sum
	})
}

// TestStatusOfHandles is the same by a handle and by a plan.
func TestStatusOfHandles(t *testing.T) {
	onTeam(t, 3, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		buf := vector(fractionCount, func(i int) int32 { return value(team.Rank(), i, 0) })
		task := collectives.BroadcastTask(2, buf, collectives.Threshold(0.3))
		h, err := collectives.Start(ctx, team, task)
		if err != nil {
			return err
		}
		if err := h.Wait(ctx); err != nil {
			return err
		}
		if err := delivered(h.Status(), 0.3, everybody(3)); err != nil {
			return err
		}
		longer, err := collectives.Start(ctx, team, collectives.BroadcastTask(2, append(buf, 0), collectives.Threshold(0.3)))
		if err != nil {
			return err
		}
		if err := longer.Wait(ctx); err != nil {
			return err
		}
		if s, first := longer.Status(), h.Status(); s.Elements != first.Elements || s.Of != fractionCount+1 || first.Of != fractionCount {
			return fmt.Errorf("statuses of a vector and one that is longer by an element are %+v and %+v", first, s)
		}
		p, err := collectives.NewPlan(ctx, team, task)
		if err != nil {
			return err
		}
		for range 3 {
			if h, err = p.Start(); err != nil {
				return err
			}
			if err := h.Wait(ctx); err != nil {
				return err
			}
			if err := delivered(h.Status(), 0.3, everybody(3)); err != nil {
				return err
			}
		}
		return nil
	})
}
