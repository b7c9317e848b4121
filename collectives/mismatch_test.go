package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A twin is two calls that do not match, each with a word of how errors tell it.
type twin struct {
	name     string
	one, two func(team *collectives.Team, heap []int32) collectives.Task
	says     [2]string
}

// twins are calls of all sorts that do not match.
func twins() []twin {
	type task = func(*collectives.Team, []int32) collectives.Task
	sum := func(n int, opts ...collectives.Option) task {
		return func(*collectives.Team, []int32) collectives.Task {
			return collectives.AllReduceTask(make([]int32, n), collectives.Sum, opts...)
		}
	}
	broadcast := func(root int, opts ...collectives.Option) task {
		return func(*collectives.Team, []int32) collectives.Task {
			return collectives.BroadcastTask(root, make([]int32, 40), opts...)
		}
	}
	at := func(from, to int) task {
		return func(_ *collectives.Team, heap []int32) collectives.Task {
			return collectives.AllReduceTask(heap[from:to], collectives.Sum)
		}
	}
	blocks := func(counts ...int) task {
		return func(t *collectives.Team, _ []int32) collectives.Task {
			return collectives.AllGatherVTask(t, make([]int32, sumOf(counts)), make([]int32, counts[t.Rank()]), counts)
		}
	}
	gathered := func(inPlace bool) task {
		return func(t *collectives.Team, _ []int32) collectives.Task {
			counts := []int{1 << 18, largeSum, 1}
			all := make([]int32, sumOf(counts))
			mine := make([]int32, counts[t.Rank()])
			if inPlace {
				mine = all[sumOf(counts[:t.Rank()]):][:counts[t.Rank()]]
			}
			return collectives.AllGatherVTask(t, all, mine, counts, whole())
		}
	}
	return []twin{
		{"operation", sum(40), broadcast(0), [2]string{"allreduce (sum of 40 int32)", "broadcast (40 int32, root 0)"}},
		{"count", sum(40), sum(41), [2]string{"allreduce (sum of 40 int32)", "allreduce (sum of 41 int32)"}},
		{"root", broadcast(0), broadcast(1), [2]string{"broadcast (40 int32, root 0)", "broadcast (40 int32, root 1)"}},
		{"type", sum(40), func(*collectives.Team, []int32) collectives.Task {
			return collectives.AllReduceTask(make([]float32, 40), collectives.Sum)
		}, [2]string{"(sum of 40 int32)", "(sum of 40 float32)"}},
		{"reduction", sum(40), func(*collectives.Team, []int32) collectives.Task {
			return collectives.AllReduceTask(make([]int32, 40), collectives.Max)
		}, [2]string{"(sum of 40 int32)", "(max of 40 int32)"}},
		{"function", sum(40), func(*collectives.Team, []int32) collectives.Task {
			return collectives.AllReduceFuncTask(make([]int32, 40), func(dst, a, b []int32) {}, false)
		}, [2]string{"(sum of 40 int32)", "(a function of 40 int32)"}},
		{"algorithm", sum(40, collectives.Algorithm("ring")), sum(40, collectives.Algorithm("binomial")), [2]string{"by ring", "by binomial"}},
		{"segments", sum(40, collectives.Algorithm("ring"), collectives.Concurrency(2)), sum(40, collectives.Algorithm("ring"), collectives.Concurrency(3)), [2]string{"by ringx2", "by ringx3"}},
		{"threshold", broadcast(0), broadcast(0, collectives.Threshold(0.5)), [2]string{"broadcast (40 int32, root 0)", "broadcast (20 int32, root 0)"}},
		{"memory", sum(40), at(0, 40), [2]string{"(sum of 40 int32)", "in allocation 1 at byte 0"}},
		{"place", at(0, 40), at(10, 50), [2]string{"in allocation 1 at byte 0", "in allocation 1 at byte 40"}},
		{"barrier", sum(40), func(*collectives.Team, []int32) collectives.Task { return collectives.BarrierTask() }, [2]string{"allreduce", "barrier"}},
		{"growth", sum(40), sum(largeSum, whole()), [2]string{"(sum of 40 int32)", sumOfLarge}},
		{"growth of the others", sum(largeSum, whole()), sum(40), [2]string{sumOfLarge, "(sum of 40 int32)"}},
		{"growths", sum(largeSum, whole()), blocks(largeSum, 5, largeSum), [2]string{sumOfLarge, "(blocks of int32"}},
		{"growth by place", gathered(false), gathered(true), [2]string{"(blocks of int32)", "(blocks of int32) in place"}},
		{"blocks", blocks(2, 2, 2), blocks(2, 2, 3), [2]string{"allgather (blocks of int32", "as "}},
	}
}

// mismatched checks the error of one of the calls.
func (w twin) mismatched(err error) error {
	if !errors.Is(err, gaspi.ErrMismatch) {
		return fmt.Errorf("%s: got %v, want %v", w.name, err, gaspi.ErrMismatch)
	}
	for _, part := range []string{w.says[0], w.says[1], "rank 1 called", "unusable until Reset"} {
		if !strings.Contains(err.Error(), part) {
			return fmt.Errorf("%s: %w does not say %q", w.name, err, part)
		}
	}
	if n := strings.Count(err.Error(), " called "); n < 2 {
		return fmt.Errorf("%s: %w names %d calls, want 2", w.name, err, n)
	}
	return nil
}

// TestMismatch has rank 1 call something else than the others, for the first time,
// again, and each against a call that was made before; by single calls and by plans.
// All get an error that names both calls; the team refuses more until it is reset,
// and then works.
func TestMismatch(t *testing.T) {
	for _, old := range []struct {
		name     string
		one, two bool // called before, by all
	}{{"new", false, false}, {"old against new", true, false}, {"new against old", false, true}, {"old", true, true}} {
		for _, plans := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, plans %v", old.name, plans), func(t *testing.T) {
				t.Parallel() // they wait most of the time
				onTeam(t, 3, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
					heap, err := collectives.Alloc[int32](ctx, team, 100)
					if err != nil {
						return err
					}
					for _, w := range twins() {
						few := []string{"operation", "count", "root", "memory"}
						if !slices.Contains(few, w.name) && (old.one || old.two || testing.Short()) {
							continue
						}
						if err := w.meet(ctx, team, heap, old.one, old.two, plans); err != nil {
							return fmt.Errorf("%s: %w", w.name, err)
						}
					}
					return nil
				})
			})
		}
	}
}

// caller makes what calls a task: by itself, or as a plan that is made here.
func caller(ctx context.Context, team *collectives.Team, plans bool, task collectives.Task) (func() error, error) {
	if !plans {
		return func() error { return collectives.Do(ctx, team, task) }, nil
	}
	p, err := collectives.NewPlan(ctx, team, task)
	return func() error { return p.Run(ctx) }, err
}

func (w twin) meet(ctx context.Context, team *collectives.Team, heap []int32, oldOne, oldTwo, plans bool) error {
	one, err := caller(ctx, team, plans, w.one(team, heap))
	if err != nil {
		return err
	}
	two, err := caller(ctx, team, plans, w.two(team, heap))
	if err != nil {
		return err
	}
	for range 2 {
		if oldOne {
			if err := one(); err != nil {
				return err
			}
		}
		if oldTwo {
			if err := two(); err != nil {
				return err
			}
		}
	}
	call := one
	if team.Rank() == 1 {
		call = two
	}
	// A rank that only sends may end a call that the others do not make, and learns
	// of it in a later one.
	for err = call(); err == nil; {
		err = collectives.Barrier(ctx, team)
	}
	if err := w.mismatched(err); err != nil {
		return err
	}
	again := collectives.Barrier(ctx, team)
	if err := w.mismatched(again); err != nil {
		return fmt.Errorf("a call after that: %w", err)
	}
	if err := team.Reset(ctx); err != nil {
		return err
	}
	buf := vector(30, func(i int) int64 { return int64(i * team.Rank()) })
	if err := collectives.AllReduce(ctx, team, buf, collectives.Sum); err != nil {
		return fmt.Errorf("after the reset: %w", err)
	}
	if err := matches("after the reset", buf, func(i int) int64 { return int64(3 * i) }); err != nil {
		return err
	}
	if err := one(); err != nil {
		return fmt.Errorf("the call itself after the reset: %w", err)
	}
	return two()
}

// TestMismatchOfPlanNumbers has ranks run plans of one call that were made in
// another order.
func TestMismatchOfPlanNumbers(t *testing.T) {
	onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		var plans []*collectives.Plan
		for range 2 {
			p, err := collectives.PlanAllReduce(ctx, team, make([]int32, 10), collectives.Sum)
			if err != nil {
				return err
			}
			plans = append(plans, p)
		}
		err := plans[team.Rank()].Run(ctx)
		w := twin{name: "plans", says: [2]string{"as plan 1", "as plan 2"}}
		if err := w.mismatched(err); err != nil {
			return err
		}
		return team.Reset(ctx)
	})
}

// TestMismatchAcrossCalls starts two calls in other numbers, so that what is left
// under way on the two ranks are calls of other places in the order.
func TestMismatchAcrossCalls(t *testing.T) {
	onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		task := func(n int) collectives.Task { return collectives.AllReduceTask(make([]int32, n), collectives.Sum) }
		for n := range 2 {
			if err := collectives.Do(ctx, team, task(10+n)); err != nil {
				return err
			}
		}
		var handles []*collectives.Handle
		for _, n := range [][]int{{10, 10, 11}, {10, 11, 11}}[team.Rank()] {
			h, err := collectives.Start(ctx, team, task(n))
			if err != nil {
				return err
			}
			handles = append(handles, h)
		}
		var err error
		for _, h := range handles {
			err = errors.Join(err, h.Wait(ctx))
		}
		w := twin{name: "sums", says: [2]string{"allreduce (sum of 10 int32)", "allreduce (sum of 11 int32)"}}
		if err := w.mismatched(err); err != nil {
			return err
		}
		return team.Reset(ctx)
	})
}

// TestMismatchThroughShortQueues has one member call something else than the others, after
// calls that all agreed on, where a queue holds fewer operations than there are members: the
// member that finds the reason tells all others, whatever room its queue has.
func TestMismatchThroughShortQueues(t *testing.T) {
	const members = 9
	for _, depth := range []int{1, 2, 8, members} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			t.Parallel() // they wait most of the time
			onTeamOf(t, gaspi.Config{QueueDepth: depth}, members, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
				for range 2 {
					for _, n := range []int{3, 4} {
						if err := collectives.AllReduce(ctx, team, make([]int32, n), collectives.Sum); err != nil {
							return err
						}
					}
					n := 3
					if team.Rank() == 5 {
						n = 4
					}
					if err := collectives.AllReduce(ctx, team, make([]int32, n), collectives.Sum); !errors.Is(err, gaspi.ErrMismatch) {
						return fmt.Errorf("got %v, want %v", err, gaspi.ErrMismatch)
					}
					if err := team.Reset(ctx); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}
