package measure

import (
	"context"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// Repeat makes a batch of a call.
func Repeat(ctx context.Context, once func(context.Context) error) func(int) error {
	return func(n int) error {
		for range n {
			if err := once(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// Fastest is the way that takes least time, the same on all ranks.
func (b *Bench) Fastest(ctx context.Context, ways []limit.BareCall) (limit.BareCall, error) {
	if len(ways) == 1 {
		return ways[0], nil
	}
	w := Workload{Timed: true, Steps: 1}
	for _, way := range ways {
		w.Contenders = append(w.Contenders, Contender{report.ImplLimit, Repeat(ctx, way)})
	}
	n, block, err := b.calibrate(ctx, w)
	if err != nil {
		return nil, err
	}
	rounds := int(max(1, min(trials, trialTime/(max(block, 1)*time.Duration(len(ways))))))
	least := make([]time.Duration, len(ways))
	for round := range rounds {
		for i := range ways {
			took, err := b.block(ctx, w, i, n)
			if err != nil {
				return nil, err
			}
			if round == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	if err := b.Slowest(ctx, least); err != nil {
		return nil, err
	}
	return ways[slices.Index(least, slices.Min(least))], nil
}

// So many blocks of each way are measured to find the fastest, but one suffices
// where all of them together take longer than trialTime.
const (
	trials    = 5
	trialTime = time.Second
)
