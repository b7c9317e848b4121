package collective

import (
	"context"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
)

// Overlap measures what of an operation is hidden behind something else.
func Overlap() measure.Benchmark {
	return measure.Benchmark{
		Name: "overlap", MinRanks: 2, Sizes: []uint64{4 << 20},
		About: `an allreduce that goes on while its caller does something else, of four
times its length. Rows: the allreduce alone, as a call that blocks; Wait of one that was
started, after the caller has slept; computing alone; and computing beside an allreduce,
until Wait of that has returned. A line says which part of the call Wait takes.
Limit: of the last row, computing and the processor time of a call together.`,
		Prepare: prepareOverlap,
	}
}

// pauses is how many times as long as the call the caller does something else.
const pauses = 4

func prepareOverlap(_ context.Context, b *measure.Bench, size uint64) ([]measure.Workload, error) {
	return []measure.Workload{{Run: func(ctx context.Context) ([]report.Row, error) {
		rows, err := measureOverlap(ctx, b, size)
		if err != nil {
			return nil, err
		}
		return rows, b.StampPunctual(ctx, rows, b.P.Emulation().Restart())
	}}}, nil
}

// An overlapping measures one plan.
type overlapping struct {
	b    *measure.Bench
	plan *collectives.Plan
	size uint64
	runs int
}

func measureOverlap(ctx context.Context, b *measure.Bench, size uint64) ([]report.Row, error) {
	t, err := collectives.NewTeam(ctx, b.P.World(), collectives.Config{})
	if err != nil {
		return nil, err
	}
	plan, err := collectives.PlanAllReduce(ctx, t, make([]float32, max(1, size/4)), collectives.Sum)
	if err != nil {
		return nil, err
	}
	o := &overlapping{b: b, plan: plan, size: size, runs: measure.FewBlocks}
	rows, err := o.rows(ctx)
	if err != nil {
		return nil, err
	}
	return rows, t.Close()
}

// rows measures the call alone, and then all that is done beside it.
func (o *overlapping) rows(ctx context.Context) ([]report.Row, error) {
	alone := func() (time.Duration, error) { return timed(func() error { return o.plan.Run(ctx) }) }
	call, err := o.row(ctx, "alone", alone)
	if err != nil {
		return nil, err
	}
	pause := pauses * time.Duration(call.P50US*1e3)
	o.runs = min(max(measure.MinBlocks, int(o.b.Rules.Time/(pause+pause/pauses))), measure.MaxBlocks)
	if call, err = o.row(ctx, "alone", alone); err != nil {
		return nil, err
	}
	wait, err := o.row(ctx, "wait", func() (time.Duration, error) {
		h, err := o.plan.Start()
		if err != nil {
			return 0, err
		}
		time.Sleep(pause) // sleep: it is what the operation is measured beside
		return timed(func() error { return h.Wait(ctx) })
	})
	if err != nil {
		return nil, err
	}
	w := measure.NewComputing()
	computing, err := o.row(ctx, "compute", func() (time.Duration, error) {
		return timed(func() error { w.Compute(pause); return nil })
	})
	if err != nil {
		return nil, err
	}
	both, err := o.row(ctx, "both", func() (time.Duration, error) {
		return timed(func() error {
			h, err := o.plan.Start()
			if err != nil {
				return err
			}
			w.Compute(pause)
			return h.Wait(ctx)
		})
	})
	if err != nil {
		return nil, err
	}
	call.Remark = fmt.Sprintf("after a pause of %d calls, Wait takes %.1f %% of one; computing beside a call takes %.3f times as long as computing and the processor time of a call",
		pauses, 100*wait.P50US/call.P50US, both.P50US/(computing.P50US+call.CPUUSPerCall))
	return []report.Row{call, wait, computing, both}, nil
}

// row measures something some times. All ranks begin each together.
func (o *overlapping) row(ctx context.Context, name string, once func() (time.Duration, error)) (report.Row, error) {
	took := make([]time.Duration, o.runs)
	before := o.b.Processors()
	for i := range took {
		if err := o.b.P.Barrier(ctx, o.b.P.World()); err != nil {
			return report.Row{}, err
		}
		var err error
		if took[i], err = once(); err != nil {
			return report.Row{}, err
		}
	}
	return o.b.RowOfCalls(ctx, report.Subject{Op: "overlap-" + name, Bytes: o.size}, took, o.b.Processors()-before)
}

func timed(do func() error) (time.Duration, error) {
	began := time.Now()
	err := do()
	return time.Since(began), err
}
