package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// A wrong is a call that cannot be, made by all members alike, and what they are
// told.
type wrong struct {
	name  string
	call  func(ctx context.Context, t *collectives.Team, heap []int32) error
	cause error
	says  string
}

// wrongs are calls with bad arguments.
func wrongs() []wrong {
	type call = func(context.Context, *collectives.Team, []int32) error
	do := func(task func(t *collectives.Team) collectives.Task) call {
		return func(ctx context.Context, t *collectives.Team, _ []int32) error {
			return collectives.Do(ctx, t, task(t))
		}
	}
	broadcast := func(root int, opts ...collectives.Option) call {
		return do(func(*collectives.Team) collectives.Task {
			return collectives.BroadcastTask(root, make([]int32, 5), opts...)
		})
	}
	sum := func(opts ...collectives.Option) call {
		return do(func(*collectives.Team) collectives.Task {
			return collectives.AllReduceTask(make([]int32, 5), collectives.Sum, opts...)
		})
	}
	ints := func(n int) []int32 { return make([]int32, n) }
	return []wrong{
		{"root too large", broadcast(3), gaspi.ErrBadRank, "root 3 of 3 members"},
		{"negative root", broadcast(-1), gaspi.ErrBadRank, "root -1 of 3 members"},
		{"threshold 1.5", broadcast(0, collectives.Threshold(1.5)), gaspi.ErrOutOfRange, "the threshold, which must be in (0,1], is 1.5"},
		{"threshold -0.1", broadcast(0, collectives.Threshold(-0.1)), gaspi.ErrOutOfRange, "must be in (0,1], is -0.1"},
		{"threshold 0", broadcast(0, collectives.Threshold(0)), gaspi.ErrOutOfRange, "must be in (0,1], is 0"},
		{"threshold NaN", broadcast(0, collectives.Threshold(math.NaN())), gaspi.ErrOutOfRange, "must be in (0,1], is NaN"},
		{"processes NaN", do(func(*collectives.Team) collectives.Task {
			return collectives.ReduceTask(0, ints(3), collectives.Sum, collectives.Processes(math.NaN()))
		}), gaspi.ErrOutOfRange, "the fraction of processes, which must be in (0,1], is NaN"},
		{"processes 0", do(func(*collectives.Team) collectives.Task {
			return collectives.ReduceTask(0, ints(3), collectives.Sum, collectives.Processes(0))
		}), gaspi.ErrOutOfRange, "the fraction of processes, which must be in (0,1], is 0"},
		{"processes of a broadcast", broadcast(0, collectives.Processes(0.5)), gaspi.ErrNotSupported, "broadcast knows no fraction of processes; only reduce does"},
		{"threshold of an allreduce", sum(collectives.Threshold(0.5)), gaspi.ErrNotSupported, "only broadcast and reduce do"},
		{"segment size", sum(collectives.SegmentSize(-1)), gaspi.ErrOutOfRange, "the segment size is -1"},
		{"concurrency", sum(collectives.Concurrency(-2)), gaspi.ErrOutOfRange, "the concurrency is -2"},
		{"radix", sum(collectives.Radix(-3)), gaspi.ErrOutOfRange, "the radix is -3"},
		{"algorithm", sum(collectives.Algorithm("zigzag")), gaspi.ErrNotSupported, `allreduce has no algorithm "zigzag"; it has `},
		{"order of an algorithm", do(func(*collectives.Team) collectives.Task {
			return collectives.AllReduceFuncTask(ints(3), func(dst, a, b []int32) {}, true, collectives.Algorithm("ring"))
		}), gaspi.ErrNotSupported, "ring does not keep the order of ranks"},
		{"and of floats", do(func(*collectives.Team) collectives.Task {
			return collectives.AllReduceTask(make([]float32, 3), collectives.And)
		}), gaspi.ErrOutOfRange, "and of elements of type float32"},
		{"max of complex numbers", do(func(*collectives.Team) collectives.Task {
			return collectives.AllReduceTask(make([]complex64, 3), collectives.Max)
		}), gaspi.ErrOutOfRange, "max of elements of type complex64"},
		{"minloc of integers", do(func(*collectives.Team) collectives.Task {
			return collectives.ScanTask(ints(3), collectives.MinLoc)
		}), gaspi.ErrOutOfRange, "minloc of elements of type int32"},
		{"elements with pointers", do(func(*collectives.Team) collectives.Task {
			return collectives.BroadcastTask(0, []string{"a"})
		}), gaspi.ErrOutOfRange, "elements of type string have pointers"},
		{"elements without size", do(func(*collectives.Team) collectives.Task {
			return collectives.BroadcastTask(0, make([]struct{}, 4))
		}), gaspi.ErrOutOfRange, "elements of type struct {} have no size"},
		{"no vectors", do(func(*collectives.Team) collectives.Task {
			return collectives.AllReduceManyTask([][]int32{}, collectives.Sum)
		}), gaspi.ErrOutOfRange, "no vectors; want at least one"},
		{"vectors of other lengths", do(func(*collectives.Team) collectives.Task {
			return collectives.AllReduceManyTask([][]int32{ints(3), ints(3), ints(4)}, collectives.Sum)
		}), gaspi.ErrOutOfRange, "vector 2 has 4 elements; want 3"},
		{"no vectors to scatter", do(func(t *collectives.Team) collectives.Task {
			return collectives.ReduceScatterManyTask(t, ints(1), [][]int32{}, collectives.Sum)
		}), gaspi.ErrOutOfRange, "no vectors; want at least one"},
		{"no vectors to scatter by a function", do(func(t *collectives.Team) collectives.Task {
			return collectives.ReduceScatterManyFuncTask(t, ints(1), nil, func(dst, a, b []int32) {}, false)
		}), gaspi.ErrOutOfRange, "no vectors; want at least one"},
		{"vectors of other lengths to scatter", do(func(t *collectives.Team) collectives.Task {
			return collectives.ReduceScatterManyTask(t, ints(1), [][]int32{ints(3), ints(4)}, collectives.Sum)
		}), gaspi.ErrOutOfRange, "vector 1 has 4 elements; want 3"},
		{"vectors that are no blocks", do(func(t *collectives.Team) collectives.Task {
			return collectives.ReduceScatterManyVTask(t, ints(t.Rank()), [][]int32{ints(4), ints(4)}, []int{0, 1, 2}, collectives.Sum)
		}), gaspi.ErrOutOfRange, "src has 4 elements; want 3"},
		{"dst too short", do(func(*collectives.Team) collectives.Task {
			return collectives.AllReduceIntoTask(ints(2), ints(3), collectives.Sum)
		}), gaspi.ErrOutOfRange, "dst has 2 elements; want 3"},
		{"no function to combine elements of type int32 with", do(func(*collectives.Team) collectives.Task {
			return collectives.AllReduceFuncTask[int32](ints(3), nil, false)
		}), gaspi.ErrOutOfRange, "no function"},
		{"blocks of an alltoall", do(func(t *collectives.Team) collectives.Task {
			return collectives.AllToAllTask(t, ints(7), ints(7))
		}), gaspi.ErrOutOfRange, "src has 7 elements; want 6"},
		{"dst of an allgather", do(func(t *collectives.Team) collectives.Task {
			return collectives.AllGatherTask(t, ints(7), ints(2))
		}), gaspi.ErrOutOfRange, "dst has 7 elements; want 6"},
		{"number of blocks", do(func(t *collectives.Team) collectives.Task {
			return collectives.AllGatherVTask(t, ints(4), ints(2), []int{2, 2})
		}), gaspi.ErrOutOfRange, "counts has 2 elements; want 3"},
		{"negative block", do(func(t *collectives.Team) collectives.Task {
			return collectives.ScatterVTask(t, 0, ints(2), ints(4), []int{-2, 4, 2})
		}), gaspi.ErrOutOfRange, "a block has -2 elements; want 0 or more"},
		{"rounds", do(func(*collectives.Team) collectives.Task {
			return collectives.ExchangeTask(ints(4), ints(4), -1)
		}), gaspi.ErrOutOfRange, "rounds -1"},
		{"exchange in place", do(func(*collectives.Team) collectives.Task {
			buf := ints(4)
			return collectives.ExchangeTask(buf, buf, 2)
		}), gaspi.ErrNotSupported, "not done in place"},
		{"release of a part", func(ctx context.Context, t *collectives.Team, heap []int32) error {
			return collectives.Release(ctx, t, heap[1:])
		}, gaspi.ErrNoSegment, "the slice is not what Alloc of this team returned"},
		{"release of the first part", func(ctx context.Context, t *collectives.Team, heap []int32) error {
			return collectives.Release(ctx, t, heap[:len(heap)-1])
		}, gaspi.ErrNoSegment, "the slice is not what Alloc of this team returned"},
		{"release of no elements", func(ctx context.Context, t *collectives.Team, heap []int32) error {
			return collectives.Release(ctx, t, heap[:0])
		}, gaspi.ErrNoSegment, "the slice is not what Alloc of this team returned"},
		{"no segment", func(_ context.Context, t *collectives.Team, _ []int32) error {
			return t.Use(nil)
		}, gaspi.ErrNoSegment, "the segment is nil; want one that all members have"},
		{"allocation of nothing", func(ctx context.Context, t *collectives.Team, _ []int32) error {
			_, err := collectives.Alloc[int32](ctx, t, 0)
			return err
		}, gaspi.ErrOutOfRange, "0 elements; want at least 1"},
		{"allocation of pointers", func(ctx context.Context, t *collectives.Team, _ []int32) error {
			_, err := collectives.Alloc[*int32](ctx, t, 4)
			return err
		}, gaspi.ErrOutOfRange, "elements of type *int32 have pointers"},
	}
}

// TestErrors makes calls that cannot be: each is told in one sentence, nothing is
// begun, and the team goes on.
func TestErrors(t *testing.T) {
	onTeam(t, 3, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		heap, err := collectives.Alloc[int32](ctx, team, 10)
		if err != nil {
			return err
		}
		for _, w := range wrongs() {
			err := w.call(ctx, team, heap)
			switch {
			case err == nil:
				t.Errorf("%s: accepted", w.name)
			case w.cause != nil && !errors.Is(err, w.cause), !strings.Contains(err.Error(), w.says):
				t.Errorf("%s: got %q, want %v and %q", w.name, err, w.cause, w.says)
			case !strings.HasPrefix(err.Error(), "gaspi: collectives: ") || strings.Contains(err.Error(), "\n"):
				t.Errorf("%s: %q is no sentence that begins with its place", w.name, err)
			}
			buf := []int64{int64(team.Rank())}
			if err := collectives.AllReduce(ctx, team, buf, collectives.Sum); err != nil {
				return fmt.Errorf("after %s: %w", w.name, err)
			}
			if err := matches("after "+w.name, buf, func(int) int64 { return 3 }); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestErrorsOfRootsAlone are buffers of the wrong length at one rank: that rank is
// told, and the others wait until they are told of another call.
func TestErrorsOfRootsAlone(t *testing.T) {
	onTeam(t, 1, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		for name, task := range map[string]collectives.Task{
			"reduce": collectives.ReduceIntoTask(0, make([]int32, 2), make([]int32, 3), collectives.Sum),
			"gather": collectives.GatherTask(team, 0, make([]int32, 2), make([]int32, 3)),
		} {
			if err := collectives.Do(ctx, team, task); !errors.Is(err, gaspi.ErrOutOfRange) || !strings.Contains(err.Error(), "dst has 2 elements; want 3") {
				return fmt.Errorf("%s: got %v, which does not say that dst is too short", name, err)
			}
			if _, err := collectives.NewPlan(ctx, team, task); !errors.Is(err, gaspi.ErrOutOfRange) {
				return fmt.Errorf("%s: plan: got %v, want %v", name, err, gaspi.ErrOutOfRange)
			}
		}
		return nil
	})
}

// TestBufferOfAnotherTeam is a slice like any other.
func TestBufferOfAnotherTeam(t *testing.T) {
	onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		other, err := collectives.NewTeam(ctx, team.Group(), collectives.Config{})
		if err != nil {
			return err
		}
		buf, err := collectives.Alloc[int32](ctx, other, 8)
		if err != nil {
			return err
		}
		for i := range buf {
			buf[i] = int32(i + team.Rank())
		}
		if err := collectives.AllReduce(ctx, team, buf, collectives.Sum); err != nil {
			return err
		}
		if err := matches("sum", buf, func(i int) int32 { return int32(2*i + 1) }); err != nil {
			return err
		}
		if err := collectives.Release(ctx, team, buf); !errors.Is(err, gaspi.ErrNoSegment) {
			return fmt.Errorf("release by another team: got %v, want %v", err, gaspi.ErrNoSegment)
		}
		return other.Close()
	})
}

// TestClosedTeamOfAFamily closes a team that was split from another one, with and without an error before: it does
// nothing any more, and nothing to the others of its family.
func TestClosedTeamOfAFamily(t *testing.T) {
	job := small
	job.Groups = 32
	for _, revoked := range []bool{false, true} {
		onTeamOf(t, job, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
			closed, err := team.Split(ctx, 0, 0)
			if err != nil {
				return err
			}
			sibling, err := team.Split(ctx, 0, 0)
			if err != nil {
				return err
			}
			buf, err := collectives.Alloc[int32](ctx, closed, 4)
			if err != nil {
				return err
			}
			if revoked {
				if err := closed.Revoke(nil); err != nil {
					return err
				}
				if err := collectives.Barrier(ctx, closed); !errors.Is(err, gaspi.ErrRevoked) {
					return fmt.Errorf("barrier of a revoked team: %v", err)
				}
			}
			if err := collectives.Barrier(ctx, team); err != nil {
				return err
			}
			if err := closed.Close(); err != nil {
				return err
			}
			_, agree := closed.Agree(ctx, 1)
			_, shrink := closed.Shrink(ctx)
			_, split := closed.Split(ctx, 0, 0)
			_, bucket := collectives.NewBucket[int32](ctx, closed, collectives.Sum, collectives.BucketConfig{})
			for name, err := range map[string]error{
				"revoke": closed.Revoke(errors.New("too late")), "agree": agree, "shrink": shrink, "split": split, "bucket": bucket,
				"release": collectives.Release(ctx, closed, buf), "reset": closed.Reset(ctx), "barrier": collectives.Barrier(ctx, closed),
			} {
				if !errors.Is(err, gaspi.ErrClosed) {
					return fmt.Errorf("revoked %v, %s: got %v, want %v", revoked, name, err, gaspi.ErrClosed)
				}
			}
			if err := collectives.Barrier(ctx, sibling); errors.Is(err, gaspi.ErrRevoked) != revoked {
				return fmt.Errorf("revoked %v, barrier of the sibling: %v", revoked, err)
			}
			if err := collectives.Barrier(ctx, team); err != nil {
				return err
			}
			return sibling.Close()
		})
	}
}

// TestClosedTeam refuses everything.
func TestClosedTeam(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
		if err != nil {
			return err
		}
		buf := make([]int32, 4)
		plan, err := collectives.PlanAllReduce(ctx, team, buf, collectives.Sum)
		if err != nil {
			return err
		}
		if err := collectives.AllReduce(ctx, team, buf, collectives.Sum); err != nil {
			return err
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		if err := team.Close(); err != nil {
			return err
		}
		_, alloc := collectives.Alloc[int32](ctx, team, 4)
		_, start := collectives.Start(ctx, team, collectives.BarrierTask())
		_, made := collectives.NewPlan(ctx, team, collectives.BarrierTask())
		for name, err := range map[string]error{
			"call": collectives.AllReduce(ctx, team, buf, collectives.Sum), "barrier": collectives.Barrier(ctx, team),
			"run": plan.Run(ctx), "alloc": alloc, "start": start, "plan": made, "reset": team.Reset(ctx),
		} {
			if !errors.Is(err, gaspi.ErrClosed) {
				return fmt.Errorf("%s: got %v, want %v", name, err, gaspi.ErrClosed)
			}
		}
		return team.Close() // again: nothing
	})
}
