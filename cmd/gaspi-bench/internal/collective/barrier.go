package collective

import (
	"context"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// Barrier measures the barrier of all ranks.
func Barrier() measure.Benchmark {
	return measure.Benchmark{
		Name: "barrier",
		About: `a barrier of all ranks: that of the runtime, or with --algorithm that
of package collectives. Limit: each rank raises a bare flag at every
other and looks until it has all of theirs, in one round. Where ranks
outnumber cores it calls sched_yield between two looks (runtime.Gosched in
one process): the turns of the scheduler that no barrier there can avoid.`,
		MinRanks: 2,
		Prepare:  prepareBarrier,
	}
}

func prepareBarrier(ctx context.Context, b *measure.Bench, _ uint64) ([]measure.Workload, error) {
	w := measure.Workload{Subject: report.Subject{Op: "barrier"}, Timed: true, Steps: 1}
	world := func(ctx context.Context) error { return b.P.Barrier(ctx, b.P.World()) }
	w.Contenders = []measure.Contender{{Impl: report.ImplGaspi, Batch: measure.Repeat(ctx, world)}}
	if b.Together {
		all, err := limit.NewMeeting(b.Memory)
		if err != nil {
			return nil, err
		}
		w.Contenders = append(w.Contenders, measure.Contender{Impl: report.ImplLimit, Batch: measure.Repeat(ctx, all.Exchange)})
	}
	return []measure.Workload{w}, nil
}
