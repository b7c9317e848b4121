package main

import (
	"context"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// An operation is something that can be measured. To add one, write its
// prepare in a file of its own and a line in operations.
type operation struct {
	name     string
	about    string // for the help: what is measured, and what its limit is
	minRanks int
	sizes    []uint64 // bytes per operation unless told otherwise; nil if it moves no data

	// team says that package collectives does it, with what its flags say; maybe
	// that it only does so if --algorithm is given.
	team, maybe bool
	tune        bool // it is tune
	object      objectKind

	// main is what each rank does instead of measuring workloads; nil for
	// measureAll.
	main func(ctx context.Context, p *gaspi.Proc, o *options, cores int, out *report.Printer) error

	// prepare is called by all ranks, once for each size (0 if there are none).
	prepare func(ctx context.Context, b *bench, size uint64) ([]workload, error)
}

// rank is what a rank does.
func (op *operation) rank(ctx context.Context, p *gaspi.Proc, o *options, cores int, out *report.Printer) error {
	if op.main != nil {
		return op.main(ctx, p, o, cores, out)
	}
	return measureAll(ctx, p, o, cores, out)
}

// A workload is one figure: contenders that do the same in different ways.
type workload struct {
	report.Subject
	// timed says whether this rank's clock counts. Where several count, the
	// slowest is the time of a block.
	timed bool
	// steps is how many operations one round of a batch consists of.
	steps      int
	contenders []contender
	// checks fill and check the vectors of each contender; empty if batches see to
	// that.
	checks []sides

	// open makes the contenders, if they are not there from the start, and returns
	// what gives back what they use.
	open      func(ctx context.Context, w *workload) (release func(context.Context) error, err error)
	algorithm string // of a collective operation; known once it was opened

	// run measures it in a way of its own; nil for measure.
	run func(ctx context.Context) ([]report.Row, error)
}

// A contender is one way to do a workload.
type contender struct {
	impl string
	// batch does n rounds. All ranks call it with the same n, and all are
	// about to when the first begins. It does not allocate.
	batch func(n int) error
}

// side is a workload of the contenders of one impl.
func (w workload) side(impl string) workload {
	only := w
	only.contenders, only.checks = nil, nil
	for i, c := range w.contenders {
		if c.impl != impl {
			continue
		}
		only.contenders = append(only.contenders, c)
		if w.checks != nil {
			only.checks = append(only.checks, w.checks[i])
		}
	}
	return only
}

// operations is everything there is to measure.
func operations() []operation {
	own := []operation{latency(), bandwidth(), barrier(), notifyRate(), tune(), predict()}
	return slices.Concat(own, collectiveOperations(), objectOperations())
}

func operationNames() string {
	var names []string
	for _, op := range operations() {
		names = append(names, op.name)
	}
	return strings.Join(names, ", ")
}
