package faults

import (
	"context"
	"math/bits"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// teamConfig is what teams of these tests are made with: little memory, since there are
// thousands of them.
func teamConfig(m *member) collectives.Config {
	return collectives.Config{Slots: 1024, Scratch: 1 << 16, Algorithms: m.forced}
}

// A collective makes a call of a team.
type collective func(ctx context.Context, t *collectives.Team, x *vectors) error

// vectors are the operands of collective calls, made once.
type vectors struct {
	a, b, all, all2 []int64
	counts          []int
	root            int
}

func newVectors(m *member) *vectors {
	n, size := m.count, m.size()
	x := &vectors{a: make([]int64, n), b: make([]int64, n), all: make([]int64, n*size), all2: make([]int64, n*size), root: m.shift % size}
	for range size {
		x.counts = append(x.counts, n)
	}
	return x
}

// inTeam makes an open of a call of a team that was made before.
func inTeam(do collective) func(context.Context, *member) (step, error) {
	return func(ctx context.Context, m *member) (step, error) {
		t, err := collectives.NewTeam(ctx, m.group, teamConfig(m))
		x := newVectors(m)
		return func(ctx context.Context, _ int) error { return do(ctx, t, x) }, err
	}
}

func status(_ collectives.Status, err error) error { return err }

func add(dst, a, b []int64) {
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

func collectiveRows() []row {
	var rows []row
	for _, calls := range []map[string]collective{reductions(), movements(), others()} {
		for call, do := range calls {
			rows = append(rows, row{call: "collectives." + call, needs: needsTeam, open: inTeam(do)})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.call, b.call) })
	agree := inTeam(func(ctx context.Context, t *collectives.Team, _ *vectors) error {
		_, err := t.Agree(ctx, 1)
		return err
	})
	return slices.Concat(rows, planRows(), bucketRows(), agreements("collectives.Team.Agree", agree), agreements("collectives.Team.Shrink", shrunkTeam))
}

// reductions are calls that combine vectors.
func reductions() map[string]collective {
	type team = collectives.Team
	sum := collectives.Sum
	return map[string]collective{
		"AllReduce": func(ctx context.Context, t *team, x *vectors) error { return collectives.AllReduce(ctx, t, x.a, sum) },
		"AllReduceFunc": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.AllReduceFunc(ctx, t, x.a, add, x.root%2 == 0)
		},
		"AllReduceInto": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.AllReduceInto(ctx, t, x.b, x.a, sum)
		},
		"AllReduceMany": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.AllReduceMany(ctx, t, [][]int64{x.a, x.b}, sum)
		},
		"AllReduceManyFunc": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.AllReduceManyFunc(ctx, t, [][]int64{x.a, x.b}, add, x.root%2 == 0)
		},
		"ExScan": func(ctx context.Context, t *team, x *vectors) error { return collectives.ExScan(ctx, t, x.a, sum) },
		"ExScanFunc": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.ExScanFunc(ctx, t, x.a, add, true)
		},
		"Reduce": func(ctx context.Context, t *team, x *vectors) error {
			return status(collectives.Reduce(ctx, t, x.root, x.a, sum))
		},
		"ReduceFunc": func(ctx context.Context, t *team, x *vectors) error {
			return status(collectives.ReduceFunc(ctx, t, x.root, x.a, add, false))
		},
		"ReduceInto": func(ctx context.Context, t *team, x *vectors) error {
			return status(collectives.ReduceInto(ctx, t, x.root, x.b, x.a, sum))
		},
		"ReduceScatter": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.ReduceScatter(ctx, t, x.a, x.all, sum)
		},
		"ReduceScatterFunc": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.ReduceScatterFunc(ctx, t, x.a, x.all, add, true)
		},
		"ReduceScatterMany": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.ReduceScatterMany(ctx, t, x.a, [][]int64{x.all, x.all}, sum)
		},
		"ReduceScatterManyFunc": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.ReduceScatterManyFunc(ctx, t, x.a, [][]int64{x.all, x.all}, add, x.root%2 == 0)
		},
		"ReduceScatterManyV": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.ReduceScatterManyV(ctx, t, x.a, [][]int64{x.all, x.all}, x.counts, sum)
		},
		"ReduceScatterV": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.ReduceScatterV(ctx, t, x.a, x.all, x.counts, sum)
		},
		"Scan": func(ctx context.Context, t *team, x *vectors) error { return collectives.Scan(ctx, t, x.a, sum) },
		"ScanFunc": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.ScanFunc(ctx, t, x.a, add, true)
		},
	}
}

// movements are calls that move vectors.
func movements() map[string]collective {
	type team = collectives.Team
	return map[string]collective{
		"AllGather": func(ctx context.Context, t *team, x *vectors) error { return collectives.AllGather(ctx, t, x.all, x.a) },
		"AllGatherV": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.AllGatherV(ctx, t, x.all, x.a, x.counts)
		},
		"AllToAll": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.AllToAll(ctx, t, x.all2, x.all)
		},
		"AllToAllV": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.AllToAllV(ctx, t, x.all2, x.counts, x.all, x.counts)
		},
		"Broadcast": func(ctx context.Context, t *team, x *vectors) error {
			return status(collectives.Broadcast(ctx, t, x.root, x.a))
		},
		"Exchange": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.Exchange(ctx, t, x.b, x.a, bits.Len(uint(t.Size()-1)))
		},
		"Gather": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.Gather(ctx, t, x.root, x.all, x.a)
		},
		"GatherV": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.GatherV(ctx, t, x.root, x.all, x.a, x.counts)
		},
		"Scatter": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.Scatter(ctx, t, x.root, x.a, x.all)
		},
		"ScatterV": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.ScatterV(ctx, t, x.root, x.a, x.all, x.counts)
		},
	}
}

// others are calls of other kinds.
func others() map[string]collective {
	type team = collectives.Team
	sum := collectives.Sum
	return map[string]collective{
		"AllToAllVTask": func(ctx context.Context, t *team, x *vectors) error {
			task, err := collectives.AllToAllVTask(ctx, t, x.all2, x.counts, x.all, x.counts)
			if err != nil {
				return err
			}
			return collectives.Do(ctx, t, task)
		},
		"Alloc": func(ctx context.Context, t *team, x *vectors) error {
			v, err := collectives.Alloc[int64](ctx, t, len(x.a))
			if err != nil {
				return err
			}
			return collectives.Release(ctx, t, v)
		},
		"Barrier": func(ctx context.Context, t *team, _ *vectors) error { return collectives.Barrier(ctx, t) },
		"Do": func(ctx context.Context, t *team, x *vectors) error {
			return collectives.Do(ctx, t, collectives.ScanTask(x.a, sum))
		},
		"Handle.Wait": func(ctx context.Context, t *team, x *vectors) error {
			h, err := collectives.Start(ctx, t, collectives.AllReduceTask(x.a, sum))
			if err != nil {
				return err
			}
			g, err := collectives.Start(ctx, t, collectives.AllReduceTask(x.b, sum))
			if err != nil {
				return err
			}
			if err := g.Wait(ctx); err != nil {
				return err
			}
			return h.Wait(ctx)
		},
		"Release": func(ctx context.Context, t *team, x *vectors) error {
			v, err := collectives.Alloc[int64](ctx, t, len(x.a))
			if err == nil {
				err = collectives.AllReduce(ctx, t, v, sum)
			}
			if err != nil {
				return err
			}
			return collectives.Release(ctx, t, v)
		},
		"Start": func(ctx context.Context, t *team, x *vectors) error {
			h, err := collectives.Start(ctx, t, collectives.AllGatherTask(t, x.all, x.a))
			if err != nil {
				return err
			}
			return h.Wait(ctx)
		},
		"Team.Reset": func(ctx context.Context, t *team, _ *vectors) error { return t.Reset(ctx) },
	}
}

// shrunkTeam opens Shrink of a team, each time of the one that came out the last time.
func shrunkTeam(ctx context.Context, m *member) (step, error) {
	t, err := collectives.NewTeam(ctx, m.group, teamConfig(m))
	return func(ctx context.Context, _ int) error {
		next, err := t.Shrink(ctx)
		if err == nil {
			err = t.Close()
			t = next
		}
		return err
	}, err
}

// inGrid opens an AllReduce of the team of the row and of that of the column by turns, in
// a grid of two columns: the loss of a rank ends the calls of all, also of those that are in
// no team with it.
func inGrid(ctx context.Context, m *member) (step, error) {
	all, err := collectives.NewTeam(ctx, m.group, teamConfig(m))
	if err != nil {
		return nil, err
	}
	var teams [2]*collectives.Team
	for i, color := range []int{all.Rank() / 2, all.Rank() % 2} {
		if teams[i], err = all.Split(ctx, color, 0); err != nil {
			return nil, err
		}
	}
	x := newVectors(m)
	return func(ctx context.Context, _ int) error {
		for _, t := range teams {
			if err := collectives.AllReduce(ctx, t, x.a, collectives.Sum); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// bucketRows are calls of a bucket that was made before.
func bucketRows() []row {
	inBucket := func(do func(ctx context.Context, b *collectives.Bucket[int64], e *collectives.BucketEntry[int64]) error) func(context.Context, *member) (step, error) {
		return func(ctx context.Context, m *member) (step, error) {
			t, err := collectives.NewTeam(ctx, m.group, teamConfig(m))
			if err != nil {
				return nil, err
			}
			b, err := collectives.NewBucket[int64](ctx, t, collectives.Sum, collectives.BucketConfig{})
			x := newVectors(m)
			return func(ctx context.Context, _ int) error {
				if _, err := b.Add(x.a); err != nil {
					return err
				}
				e, err := b.Add(x.b)
				if err != nil {
					return err
				}
				return do(ctx, b, e)
			}, err
		}
	}
	type (
		bucket = collectives.Bucket[int64]
		entry  = collectives.BucketEntry[int64]
	)
	return []row{
		{call: "collectives.Bucket.Wait", needs: needsTeam, told: true, slack: mostGap, open: inBucket(func(ctx context.Context, b *bucket, _ *entry) error { return b.Wait(ctx) })},
		{call: "collectives.BucketEntry.Wait", needs: needsTeam, told: true, slack: mostGap, open: inBucket(func(ctx context.Context, _ *bucket, e *entry) error { return e.Wait(ctx) })},
		{call: "collectives.Bucket.Close", needs: needsTeam, told: true, slack: mostGap, open: inTeam(func(ctx context.Context, t *collectives.Team, x *vectors) error {
			b, err := collectives.NewBucket[int64](ctx, t, collectives.Sum, collectives.BucketConfig{})
			if err != nil {
				return err
			}
			if _, err := b.Add(x.a); err != nil {
				return err
			}
			return b.Close(ctx)
		})},
	}
}

func planRows() []row {
	// planned makes an open of a plan that is run again and again.
	planned := func(plan func(ctx context.Context, t *collectives.Team, x *vectors) (*collectives.Plan, error)) func(context.Context, *member) (step, error) {
		return func(ctx context.Context, m *member) (step, error) {
			t, err := collectives.NewTeam(ctx, m.group, teamConfig(m))
			if err != nil {
				return nil, err
			}
			p, err := plan(ctx, t, newVectors(m))
			return func(ctx context.Context, _ int) error { return p.Run(ctx) }, err
		}
	}
	return []row{
		{call: "collectives.NewTeam", needs: needsTeam, open: of(func(ctx context.Context, m *member) error {
			t, err := collectives.NewTeam(ctx, m.group, teamConfig(m))
			if err == nil {
				err = collectives.Barrier(ctx, t)
			}
			if err == nil {
				err = t.Close()
			}
			return err
		})},
		{call: "collectives.Team.Split", needs: needsTeam, told: true, slack: mostGap, open: inTeam(func(ctx context.Context, t *collectives.Team, _ *vectors) error {
			part, err := t.Split(ctx, t.Rank()%2, 0)
			if err == nil {
				err = collectives.Barrier(ctx, t)
			}
			if err == nil {
				err = part.Close()
			}
			return err
		})},
		{call: "collectives.NewBucket", needs: needsTeam, told: true, slack: mostGap, open: inTeam(func(ctx context.Context, t *collectives.Team, x *vectors) error {
			b, err := collectives.NewBucket[int64](ctx, t, collectives.Sum, collectives.BucketConfig{})
			if err == nil {
				err = collectives.Barrier(ctx, t)
			}
			if err != nil {
				return err
			}
			return b.Close(ctx)
		})},
		{call: "collectives.AllReduce", way: "rows and columns in turn", needs: needsTeam, told: true, slack: mostGap, faults: certain, open: inGrid},
		{call: "collectives.Plan.Run", needs: needsTeam, open: planned(func(ctx context.Context, t *collectives.Team, x *vectors) (*collectives.Plan, error) {
			return collectives.NewPlan(ctx, t, collectives.AllToAllTask(t, x.all2, x.all))
		})},
		{call: "collectives.PlanAllReduce", needs: needsTeam, open: planned(func(ctx context.Context, t *collectives.Team, x *vectors) (*collectives.Plan, error) {
			return collectives.PlanAllReduce(ctx, t, x.a, collectives.Sum)
		})},
		{call: "collectives.NewPlan", needs: needsTeam, open: inTeam(func(ctx context.Context, t *collectives.Team, x *vectors) error {
			p, err := collectives.NewPlan(ctx, t, collectives.AllReduceIntoTask(x.b, x.a, collectives.Max))
			if err == nil {
				err = p.Run(ctx)
			}
			if err == nil {
				err = p.Close()
			}
			return err
		})},
	}
}
