// Package startup measures how a job starts: until all ranks have returned from gaspi.Init, and until their first
// barrier has ended.
package startup

import (
	"context"
	"errors"
	"os"
	"strconv"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/peer"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// An Arrival is when the last rank has joined the job, and when the last one has left the first barrier, in time since
// the job was begun.
type Arrival struct {
	joined, met time.Duration
}

// Benchmark returns the operation whose ranks call Join on t first.
func (t *Arrival) Benchmark() measure.Benchmark {
	return measure.Benchmark{
		Name: peer.Startup, MinRanks: 2,
		About: `how a job starts, from the moment in which this program begins to start
it: "init" until all ranks have returned from gaspi.Init, "first-barrier" from then
until all have left a barrier, and "started" both.
Connections for barriers are made in Init, as in MPI_Init. Each run starts one job, and has one
time of each; with --peer, each round does, and peers start theirs by their launchers.
Limit: none; with --peer, a library of MPI.`,
		Prepare: func(_ context.Context, b *measure.Bench, _ uint64) ([]measure.Workload, error) {
			return []measure.Workload{{Run: func(ctx context.Context) ([]report.Row, error) { return t.rows(ctx, b) }}}, nil
		},
	}
}

// Began returns the variable by which ranks know when their job was begun: now.
func Began() string { return peer.Began(time.Now()) }

// Starts reports whether this process is to start the job that it measures: it is no rank of one that was.
func Starts() bool { return os.Getenv(peer.EnvBegan) == "" }

// Join is the first that a rank does which has returned from gaspi.Init. Until all have left the barrier it does nothing
// more, as ranks of peers: cores that ranks share are left to those that have not.
func (t *Arrival) Join(ctx context.Context, p *gaspi.Proc) error {
	joined := time.Now()
	ns, err := strconv.ParseInt(os.Getenv(peer.EnvBegan), 10, 64)
	if err != nil {
		return errors.New(peer.EnvBegan + ": expected when the job was begun, in nanoseconds; gaspi-bench sets it")
	}
	if err := p.Barrier(ctx, p.World()); err != nil {
		return err
	}
	began := time.Unix(0, ns)
	last := []int64{int64(joined.Sub(began)), int64(time.Since(began))}
	if err := gaspi.AllReduce(ctx, p.World(), last, last, gaspi.Max); err != nil {
		return err
	}
	*t = Arrival{joined: time.Duration(last[0]), met: time.Duration(last[1])}
	return nil
}

// rows returns the rows of the job on rank 0.
func (t *Arrival) rows(ctx context.Context, b *measure.Bench) ([]report.Row, error) {
	var rows []report.Row
	for _, part := range []struct {
		name string
		took time.Duration
	}{{peer.Init, t.joined}, {peer.FirstBarrier, t.met - t.joined}, {peer.Started, t.met}} {
		row, err := b.RowOfCalls(ctx, report.Subject{Op: part.name}, []time.Duration{part.took}, 0)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}
