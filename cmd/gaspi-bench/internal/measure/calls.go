package measure

import (
	"context"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// RowOfCalls makes a row of single calls: of the time of the slowest rank in each, and of the processor time
// that this rank used in all of them. All ranks call it, and get the same row.
func (b *Bench) RowOfCalls(ctx context.Context, what report.Subject, took []time.Duration, used time.Duration) (report.Row, error) {
	all := []int64{int64(used)}
	if err := gaspi.AllReduce(ctx, b.P.World(), all, all, gaspi.Sum); err != nil {
		return report.Row{}, err
	}
	if err := b.Slowest(ctx, took); err != nil {
		return report.Row{}, err
	}
	r := report.NewRow(what, report.ImplGaspi, report.Summarize(took, 1), len(took))
	r.Transport, r.N = b.Transport, b.P.Size()
	r.CPUUSPerCall = report.Round(float64(all[0]) / 1e3 / float64(len(took)*b.P.Size()))
	return r, nil
}
