package collective

import (
	"context"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
)

// FirstCall measures first calls.
func FirstCall() measure.Benchmark {
	return measure.Benchmark{
		Name: "first-call", MinRanks: 1, Sizes: []uint64{8, 128 << 10},
		About: `the first call of a shape, in which ranks choose an algorithm and plan
their part: an allreduce and a broadcast of a vector of so many bytes, and an alltoall
of as many in all blocks. Every call has an element or a block more than the one before,
and one of another shape, which makes connections, comes before all.
Below a row stands the processor time of a rank, waits included, the mean over all.
Limit: rows again-..., the same calls made once more.`,
		Prepare: prepareFirst,
	}
}

// shapes is how many first calls are made of each operation and size.
const shapes = 8

// A callOfShape returns a call on vectors of its own. Calls of other elements have other shapes.
type callOfShape func(t *collectives.Team, elements int) func(context.Context) error

// firstCalls are the operations whose first calls are measured, in the order of rows.
var firstCalls = []struct {
	name string
	make callOfShape
}{
	{"allreduce", func(t *collectives.Team, n int) func(context.Context) error {
		v := make([]float64, n)
		return func(ctx context.Context) error { return collectives.AllReduce(ctx, t, v, collectives.Sum) }
	}},
	{"alltoall", func(t *collectives.Team, n int) func(context.Context) error {
		in, out := make([]float64, n*t.Size()), make([]float64, n*t.Size())
		return func(ctx context.Context) error { return collectives.AllToAll(ctx, t, out, in) }
	}},
	{"broadcast", func(t *collectives.Team, n int) func(context.Context) error {
		v := make([]float64, n)
		return func(ctx context.Context) error {
			_, err := collectives.Broadcast(ctx, t, 0, v)
			return err
		}
	}},
}

func prepareFirst(_ context.Context, b *measure.Bench, size uint64) ([]measure.Workload, error) {
	var all []measure.Workload
	for _, op := range firstCalls {
		elements := int(size / 8)
		if op.name == "alltoall" {
			elements /= b.P.Size()
		}
		all = append(all, measure.Workload{Run: func(ctx context.Context) ([]report.Row, error) {
			return measureFirst(ctx, b, op.name, op.make, size, max(1, elements))
		}})
	}
	return all, nil
}

// measureFirst makes first calls of elements and some more, each in a team that knows none of them, and
// then all of them again.
func measureFirst(ctx context.Context, b *measure.Bench, name string, op callOfShape, size uint64, elements int) ([]report.Row, error) {
	t, err := collectives.NewTeam(ctx, b.P.World(), collectives.Config{})
	if err != nil {
		return nil, err
	}
	if err := op(t, elements+shapes)(ctx); err != nil { // makes connections
		return nil, err
	}
	var calls []func(context.Context) error
	for i := range shapes {
		calls = append(calls, op(t, elements+i))
	}
	var rows []report.Row
	for _, turn := range []string{"first-", "again-"} {
		row, err := measureCalls(ctx, b, report.Subject{Op: turn + name, Bytes: size}, calls)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, t.Close()
}

// measureCalls makes each call once, and all ranks begin it together.
func measureCalls(ctx context.Context, b *measure.Bench, what report.Subject, calls []func(context.Context) error) (report.Row, error) {
	took := make([]time.Duration, len(calls))
	var used time.Duration
	for i, call := range calls {
		if err := b.P.Barrier(ctx, b.P.World()); err != nil {
			return report.Row{}, err
		}
		before, began := b.Processors(), time.Now()
		if err := call(ctx); err != nil {
			return report.Row{}, err
		}
		took[i] = time.Since(began)
		used += b.Processors() - before
	}
	return b.RowOfCalls(ctx, what, took, used)
}
