package collectives_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A partner is one of two calls that do not match, with a word by which errors tell it.
type partner struct {
	name string
	call func(ctx context.Context, x *parted) error
	says string
}

// parted is a member with what its calls need.
type parted struct {
	team *collectives.Team
	heap []int32
	more []int32 // of another allocation
	plan *collectives.Plan
	room []int32 // where calls are refused, and touch none of it; else nil
}

// large is a vector of n elements, of memory of its own where calls are not refused.
func (x *parted) large(n int) []int32 {
	if x.room != nil {
		return x.room[:n]
	}
	return make([]int32, n)
}

// newParted makes what the calls need, in the same order on all members.
func newParted(ctx context.Context, team *collectives.Team) (x *parted, err error) {
	x = &parted{team: team}
	if x.heap, err = collectives.Alloc[int32](ctx, team, 10); err != nil {
		return nil, err
	}
	if x.more, err = collectives.Alloc[int32](ctx, team, 11); err != nil {
		return nil, err
	}
	x.plan, err = collectives.NewPlan(ctx, team, collectives.AllGatherTask(team, make([]int32, 6), make([]int32, 2)))
	return x, err
}

// partners are calls of a team, of each sort, no two of which match.
func partners() []partner {
	alloc := func(n int) func(context.Context, *parted) error {
		return func(ctx context.Context, x *parted) error {
			_, err := collectives.Alloc[int32](ctx, x.team, n)
			return err
		}
	}
	return []partner{
		{"alloc of 5", alloc(5), "alloc of 20 bytes"},
		{"alloc of 6", alloc(6), "alloc of 24 bytes"},
		{"release", func(ctx context.Context, x *parted) error { return collectives.Release(ctx, x.team, x.heap) }, "release of allocation 1"},
		{"release of another", func(ctx context.Context, x *parted) error { return collectives.Release(ctx, x.team, x.more) }, "release of allocation 2"},
		{"split", func(ctx context.Context, x *parted) error { _, err := x.team.Split(ctx, 0, 0); return err }, "split"},
		{"barrier", func(ctx context.Context, x *parted) error { return collectives.Barrier(ctx, x.team) }, "barrier"},
		{"sum", func(ctx context.Context, x *parted) error {
			return collectives.AllReduce(ctx, x.team, make([]int32, 40), collectives.Sum)
		}, "allreduce (sum of 40 int32)"},
		{"sum that needs memory", func(ctx context.Context, x *parted) error {
			return collectives.AllReduce(ctx, x.team, x.large(largeSum), collectives.Sum, whole())
		}, "allreduce " + sumOfLarge},
		{"broadcast of rank 1", func(ctx context.Context, x *parted) error {
			_, err := collectives.Broadcast(ctx, x.team, 1, make([]int32, 3))
			return err
		}, "broadcast (3 int32, root 1)"},
		{"broadcast of rank 0", func(ctx context.Context, x *parted) error {
			_, err := collectives.Broadcast(ctx, x.team, 0, make([]int32, 3))
			return err
		}, "broadcast (3 int32, root 0)"},
		{"alltoallv", func(ctx context.Context, x *parted) error {
			n := []int{2, 2, 2}
			return collectives.AllToAllV(ctx, x.team, make([]int32, 6), n, make([]int32, 6), n)
		}, "called alltoallv"},
		{"what alltoallv tells", func(ctx context.Context, x *parted) error {
			return collectives.AllGather(ctx, x.team, make([]int64, 12), make([]int64, 4))
		}, "allgather (4 int64)"},
		{"new plan", func(ctx context.Context, x *parted) error {
			p, err := collectives.NewPlan(ctx, x.team, collectives.AllReduceTask(make([]int32, 50), collectives.Max))
			if err == nil {
				err = p.Run(ctx)
			}
			return err
		}, "allreduce (max of 50 int32)"},
		{"new plan that needs memory", func(ctx context.Context, x *parted) error {
			p, err := collectives.NewPlan(ctx, x.team, collectives.AllReduceTask(x.large(1<<19), collectives.Max, whole()))
			if err == nil {
				err = p.Run(ctx)
			}
			return err
		}, "allreduce (max of 524288 int32)"},
		{"plan", func(ctx context.Context, x *parted) error { return x.plan.Run(ctx) }, "allgather"},
		{"start and test", func(ctx context.Context, x *parted) error {
			h, err := collectives.Start(ctx, x.team, collectives.AllReduceTask(make([]int32, 41), collectives.Sum))
			for done := false; !done && err == nil && ctx.Err() == nil; {
				time.Sleep(time.Millisecond) // sleep: by the clock of the bubble, which goes on when all sleep
				done, err = h.Test()
			}
			return err
		}, "allreduce (sum of 41 int32)"},
	}
}

// mismatched checks the error of one of two calls.
func mismatched(err error, says ...string) error {
	if !errors.Is(err, gaspi.ErrMismatch) {
		return fmt.Errorf("got %v, want %v", err, gaspi.ErrMismatch)
	}
	for _, part := range append(says, "rank 1 called", "unusable until Reset") {
		if !strings.Contains(err.Error(), part) {
			return fmt.Errorf("%w does not say %q", err, part)
		}
	}
	return nil
}

// TestMismatchOfMeetings has rank 1 call something else than the others, in all pairs of calls
// of different sorts. All get an error that names both calls; the team refuses more until it is
// reset, and then works.
func TestMismatchOfMeetings(t *testing.T) {
	room := make([]int32, max(largeSum, 1<<19))
	onTeamEach(t, partners(), func(ctx context.Context, team *collectives.Team, one partner) error {
		for _, two := range partners() {
			if one.name == two.name {
				continue
			}
			if err := disagree(ctx, team, one, two, room); err != nil {
				return fmt.Errorf("at rank 1 %s: %w", two.name, err)
			}
		}
		return nil
	})
}

// onTeamEach runs main on every member of a team of three ranks for each partner, all at the
// same time.
func onTeamEach(t *testing.T, all []partner, main func(ctx context.Context, team *collectives.Team, p partner) error) {
	t.Helper()
	onManyTeams(t, len(all), func(ctx context.Context, team *collectives.Team, i int) error {
		if err := main(ctx, team, all[i]); err != nil {
			return fmt.Errorf("%s: %w", all[i].name, err)
		}
		return nil
	})
}

// onManyTeams runs main on every member of so many teams of three ranks, all at the same time. They wait for most of it, by the
// clock of a bubble: time limits end no call that only waits for a processor.
func onManyTeams(t *testing.T, teams int, main func(ctx context.Context, team *collectives.Team, number int) error) {
	t.Helper()
	job := small
	job.Groups, job.QueuesMax, job.Segments = 64, 64, 1024
	play := func(ctx context.Context, p *gaspi.Proc) error {
		errs := make([]error, teams)
		var running sync.WaitGroup
		for i := range teams {
			running.Go(func() {
				team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Tag: gaspi.Tag(i)})
				if err == nil {
					err = main(ctx, team, i)
				}
				errs[i] = err
			})
		}
		running.Wait()
		return errors.Join(errs...)
	}
	synctest.Test(t, func(t *testing.T) {
		if err := gaspi.Local(t.Context(), 3, job, play); err != nil {
			t.Error(err)
		}
	})
}

// disagree has rank 1 call two, and the others one. Calls that are refused after that get room, which
// all members have in common.
func disagree(ctx context.Context, team *collectives.Team, one, two partner, room []int32) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	x, err := newParted(ctx, team)
	if err != nil {
		return err
	}
	mine := one
	if team.Rank() == 1 {
		mine = two
	}
	// A rank that only sends may end a call that the others do not make, and learns of it in
	// a later one.
	for err = mine.call(ctx, x); err == nil; {
		err = collectives.Barrier(ctx, team)
	}
	if err := mismatched(err, one.says, two.says); err != nil {
		return err
	}
	x.room = room
	for _, p := range partners() {
		if err := p.call(ctx, x); !errors.Is(err, gaspi.ErrMismatch) {
			return fmt.Errorf("%s after that: got %v, want %v", p.name, err, gaspi.ErrMismatch)
		}
	}
	x.room = nil
	if err := team.Reset(ctx); err != nil {
		return err
	}
	return works(ctx, x)
}

// works checks that a team does all that it should, and gives back what x has.
func works(ctx context.Context, x *parted) error {
	buf := vector(30, func(i int) int64 { return int64(i * x.team.Rank()) })
	if err := collectives.AllReduce(ctx, x.team, buf, collectives.Sum); err != nil {
		return err
	}
	if err := matches("after the reset", buf, func(i int) int64 { return int64(3 * i) }); err != nil {
		return err
	}
	heap, err := collectives.Alloc[int32](ctx, x.team, 5) // of the same number on all members
	if err != nil {
		return err
	}
	if err := collectives.AllReduce(ctx, x.team, heap, collectives.Sum); err != nil {
		return err
	}
	for range 2 {
		if err := x.plan.Run(ctx); err != nil {
			return fmt.Errorf("a plan made before: %w", err)
		}
	}
	p, err := collectives.NewPlan(ctx, x.team, collectives.AllReduceTask(heap, collectives.Sum)) // likewise
	if err == nil {
		err = errors.Join(p.Run(ctx), p.Close())
	}
	if err != nil {
		return fmt.Errorf("a new plan: %w", err)
	}
	for _, buf := range [][]int32{x.heap, x.more, heap} {
		if buf == nil {
			continue
		}
		if err := collectives.Release(ctx, x.team, buf); err != nil {
			return err
		}
	}
	return x.plan.Close()
}

// TestResetBesideACall has rank 1 reset the team while the others are in a call of each sort, one
// of which rank 1 has begun. They learn of it, and the team works when they have reset it too.
func TestResetBesideACall(t *testing.T) {
	onTeamEach(t, partners(), func(ctx context.Context, team *collectives.Team, p partner) error {
		for _, looks := range []int{never, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48} {
			if err := resetBeside(ctx, team, p, looks); err != nil {
				return fmt.Errorf("%d looks: %w", looks, err)
			}
		}
		return nil
	})
}

// never is for a call that is not begun.
const never = -1

// resetBeside has rank 1 reset the team instead of a call, or when its context has ended after so
// many looks at it.
func resetBeside(ctx context.Context, team *collectives.Team, p partner, looks int) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	x, err := newParted(ctx, team)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, works(ctx, x)) }()
	if looks != never && p.name == "release" { // which Reset ends
		defer func() { x.heap = nil }()
	}
	if looks != never && p.name == "release of another" {
		defer func() { x.more = nil }()
	}
	if team.Rank() == 1 {
		if looks != never && p.name != "split" { // after which a team is not reset
			if err := p.call(endAfter(ctx, looks), x); err != nil && !errors.Is(err, context.Canceled) {
				return err
			}
		}
		return team.Reset(ctx)
	}
	for err = p.call(ctx, x); err == nil; {
		err = collectives.Barrier(ctx, team)
	}
	if err := mismatched(err, "called reset"); err != nil {
		return err
	}
	return team.Reset(ctx)
}

// TestMeetingsFinishOperations has members start operations and wait for them in other places:
// before or in an Alloc, a Release or a Split. Each of these goes on with them.
func TestMeetingsFinishOperations(t *testing.T) {
	onTeam(t, 3, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		for round := range 9 {
			var handles []*collectives.Handle
			for range 20 { // more than are under way at a time
				h, err := collectives.Start(ctx, team, collectives.AllReduceTask(make([]int32, 1000), collectives.Sum))
				if err != nil {
					return err
				}
				handles = append(handles, h)
			}
			wait := func() error {
				var err error
				for _, h := range handles {
					err = errors.Join(err, h.Wait(ctx))
				}
				return err
			}
			if team.Rank() == round%3 {
				if err := wait(); err != nil {
					return err
				}
			}
			buf, err := collectives.Alloc[int32](ctx, team, 5)
			if err != nil {
				return err
			}
			part, err := team.Split(ctx, team.Rank()%2, 0)
			if err != nil {
				return err
			}
			if err := errors.Join(wait(), collectives.Release(ctx, team, buf), part.Close()); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestResetGivesUpAnAlloc has an Alloc end early at rank 1, before the others can complete it. All
// give its memory back, also where an Alloc before it went well.
func TestResetGivesUpAnAlloc(t *testing.T) {
	onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		if _, err := collectives.Alloc[int32](ctx, team, 10); err != nil {
			return err
		}
		p := team.Group().Proc()
		before := len(p.Segments())
		limited, want := ctx, gaspi.ErrMismatch
		if team.Rank() == 1 {
			ended, cancel := context.WithCancel(ctx)
			cancel()
			limited, want = ended, context.Canceled
		}
		if _, err := collectives.Alloc[int32](limited, team, 20); !errors.Is(err, want) {
			return fmt.Errorf("got %v, want %v", err, want)
		}
		if err := team.Reset(ctx); err != nil {
			return err
		}
		if after := len(p.Segments()); after != before {
			return fmt.Errorf("the rank has %d segments, %d before", after, before)
		}
		return nil
	})
}

// TestMeetingEndsWithTheContextOfItsCaller has an Alloc that no other member joins end at each look at
// its context, among them those between two waits, whose own contexts have ended at that moment.
func TestMeetingEndsWithTheContextOfItsCaller(t *testing.T) {
	onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		if team.Rank() == 1 {
			collectives.SetPatience(team, time.Millisecond)
			for looks := range 20 {
				_, err := collectives.Alloc[int32](endAfter(ctx, looks+1), team, 5)
				if !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
					return fmt.Errorf("%d looks: got %v, want %v", looks+1, err, context.Canceled)
				}
			}
		}
		return team.Group().Proc().Barrier(ctx, team.Group())
	})
}
