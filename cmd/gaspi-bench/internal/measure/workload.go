package measure

import (
	"context"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// A Benchmark is something whose workloads can be measured.
type Benchmark struct {
	Name     string
	About    string // for the help: what is measured, and what its limit is
	MinRanks int
	Sizes    []uint64 // bytes per operation unless told otherwise; nil if it moves no data
	// Prepare is called by all ranks, once for each size (0 if there are none).
	Prepare func(ctx context.Context, b *Bench, size uint64) ([]Workload, error)
}

// A Workload is one figure: contenders that do the same in different ways.
type Workload struct {
	report.Subject
	// Timed says whether this rank's clock counts. Where several count, the
	// slowest is the time of a block.
	Timed bool
	// Steps is how many operations one round of a batch consists of.
	Steps      int
	Contenders []Contender
	// Checks fill and check the vectors of each contender; empty if batches see to
	// that.
	Checks []limit.Buffers

	// Open makes the contenders, if they are not there from the start, and returns
	// what gives back what they use.
	Open      func(ctx context.Context, w *Workload) (release func(context.Context) error, err error)
	Algorithm string // of a collective operation; known once it was opened

	// Run measures it in a way of its own; nil for measure.
	Run func(ctx context.Context) ([]report.Row, error)
}

// A Contender is one way to do a workload.
type Contender struct {
	Impl string
	// Batch does n rounds. All ranks call it with the same n, and all are
	// about to when the first begins. It does not allocate.
	Batch func(n int) error
}

// Beside returns the runtime and its limit, by their batches.
func Beside(ours, bare func(n int) error) []Contender {
	return []Contender{{Impl: report.ImplGaspi, Batch: ours}, {Impl: report.ImplLimit, Batch: bare}}
}

// side is a workload of the contenders of one impl.
func (w Workload) side(impl string) Workload {
	only := w
	only.Contenders, only.Checks = nil, nil
	for i, c := range w.Contenders {
		if c.Impl != impl {
			continue
		}
		only.Contenders = append(only.Contenders, c)
		if w.Checks != nil {
			only.Checks = append(only.Checks, w.Checks[i])
		}
	}
	return only
}
