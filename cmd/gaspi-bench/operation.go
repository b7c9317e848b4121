package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/collective"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/model"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/object"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/startup"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/transfer"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// An operation is something that the command line can name.
type operation struct {
	measure.Benchmark
	// team says that package collectives does it, with what its flags say; maybe
	// that it only does so if --algorithm is given.
	team, maybe bool
	tune        bool // it is tune
	calls       bool // it only calls the library, and needs no memory of its own
	object      object.Pattern
	start       *startup.Arrival // when this rank has joined the job; nil unless that is measured
	// main is what each rank does instead of measuring workloads; nil for those.
	main rankFunc
}

// A rankFunc is what a rank of a job does. cores is how many the ranks share; out is nil
// but on rank 0.
type rankFunc func(ctx context.Context, p *gaspi.Proc, cores int, out *report.Printer) error

// rank is what a rank does.
func (o *options) rank(ctx context.Context, p *gaspi.Proc, cores int, out *report.Printer) error {
	if o.op.main != nil {
		return o.op.main(ctx, p, cores, out)
	}
	b, err := o.openBench(ctx, p, cores, out)
	if err != nil {
		return err
	}
	if err := b.All(ctx, &o.op.Benchmark, o.sizes); err != nil {
		return err
	}
	explains := o.collective != nil && o.collective.Explain
	if out == nil || out.Shown() > 0 || explains || os.Getenv(envPart) != "" {
		return nil
	}
	return fmt.Errorf("nothing was measured: %s of %d ranks over %s has no row of --side %s; drop the flag", o.op.Name, p.Size(), b.Transport, o.measured.Side)
}

// openBench makes the bench of a rank.
func (o *options) openBench(ctx context.Context, p *gaspi.Proc, cores int, out *report.Printer) (*measure.Bench, error) {
	if o.op.calls {
		return measure.New(p, o.measured, out)
	}
	return measure.Open(ctx, p, o.measured, o.boxes(p.Size()), cores, out)
}

// boxes is how many bytes the inboxes and outboxes of ranks need.
func (o *options) boxes(ranks int) uint64 {
	if o.collective != nil {
		return limit.CollectiveBoxes(ranks)
	}
	return limit.RoundUp(slices.Max(o.sizes), limit.Page) * o.op.object.Boxes(uint64(ranks))
}

// bindOperation gives the operation what the command line says about it.
func (o *options) bindOperation() {
	switch {
	case o.op.object != object.None:
		o.op.Prepare = object.PatternRun{Name: o.op.Name, Kind: o.op.object, Options: o.object}.Prepare
	case o.op.tune:
		o.op.main = func(ctx context.Context, p *gaspi.Proc, cores int, out *report.Printer) error {
			b, err := measure.Open(ctx, p, o.measured, o.boxes(p.Size()), cores, out)
			if err != nil {
				return err
			}
			return model.NewTuner(b, *o.collective, o.sizes).Tune(ctx, cores)
		}
	case o.op.Name == model.PredictName:
		o.op.main = func(ctx context.Context, p *gaspi.Proc, _ int, out *report.Printer) error {
			b, err := measure.New(p, o.measured, out)
			if err != nil {
				return err
			}
			return model.NewTuner(b, collective.Spec{}, o.sizes).Predict(ctx)
		}
	}
}

// operations is everything there is to measure.
func operations() []operation {
	var all []operation
	for _, op := range []measure.Benchmark{transfer.Latency(), transfer.Bandwidth(), collective.Barrier(), transfer.NotifyRate(), model.TuneOperation(), model.PredictOperation()} {
		all = append(all, operation{Benchmark: op, maybe: op.Name == "barrier", tune: op.Name == "tune"})
	}
	for _, op := range collective.Operations() {
		all = append(all, operation{Benchmark: op, team: true})
	}
	all = append(all, operation{Benchmark: collective.Several()})
	for _, op := range []measure.Benchmark{collective.FirstCall(), collective.Overlap()} {
		all = append(all, operation{Benchmark: op, calls: true})
	}
	start := new(startup.Arrival)
	all = append(all, operation{Benchmark: start.Benchmark(), calls: true, start: start})
	for i, op := range object.Operations() {
		all = append(all, operation{Benchmark: op, object: object.RoundTrip + object.Pattern(i)})
	}
	return all
}

func operationNames() string {
	var names []string
	for _, op := range operations() {
		names = append(names, op.Name)
	}
	return strings.Join(names, ", ")
}
