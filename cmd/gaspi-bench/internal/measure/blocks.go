package measure

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
)

// Blocks are long enough that the clock (about 40 ns) and the start of a block
// do not matter, and short enough that contenders which take turns, a few blocks
// at a time, meet the machine in the same mood.
const (
	blockTime = 500 * time.Microsecond
	MinBlocks = 15
	FewBlocks = 5 // where each takes longer than all were to take
	MaxBlocks = 4000
	maxBatch  = 1 << 20
	// warmBlocks is how many blocks are run at most before their length counts.
	warmBlocks = 12

	// turn is how many blocks of a contender are measured before it is another's turn.
	turn = 4
)

// Measure times a workload on all ranks and returns its rows, the same on all.
func (b *Bench) Measure(ctx context.Context, w Workload) ([]report.Row, error) {
	if b.Rules.Side != "" {
		w = w.side(b.Rules.Side)
	}
	if len(w.Contenders) == 0 {
		return nil, nil // there is no limit
	}
	if err := b.tryAll(ctx, w); err != nil {
		return nil, err
	}
	n, block, err := b.calibrate(ctx, w)
	if err != nil {
		return nil, err
	}
	blocks := blocksFor(b.Rules.Time, block)
	times := make([][]time.Duration, len(w.Contenders))
	for c := range times {
		times[c] = make([]time.Duration, blocks)
	}
	b.P.Emulation().Restart() // what came before was not measured
	before := mallocs()
	used := make([]int64, len(w.Contenders))
	runs, err := b.takeTurns(ctx, w, times, used, n)
	if err != nil {
		return nil, err
	}
	allocs := []uint64{(mallocs() - before) / uint64(runs*n*w.Steps)}
	if err := gaspi.AllReduce(ctx, b.P.World(), allocs, allocs, gaspi.Max); err != nil {
		return nil, err
	}
	if err := gaspi.AllReduce(ctx, b.P.World(), used, used, gaspi.Sum); err != nil {
		return nil, err
	}
	if err := b.tryAll(ctx, w); err != nil {
		return nil, err
	}
	var rows []report.Row
	for c, contender := range w.Contenders {
		if err := b.Slowest(ctx, times[c]); err != nil {
			return nil, err
		}
		r := report.NewRow(w.Subject, contender.Impl, report.Summarize(times[c], n*w.Steps), blocks*n*w.Steps)
		r.Transport, r.N = b.Transport, b.P.Size()
		r.Used(time.Duration(used[c]))
		if contender.Impl == report.ImplGaspi {
			r.Algorithm = w.Algorithm
		}
		if contender.Impl == report.ImplGaspi && !b.Rules.Verify {
			// Nothing else in the loop allocates, so all that was counted is its.
			r.AllocsPerOp = &allocs[0]
		}
		rows = append(rows, r)
	}
	return rows, b.stampEmulated(ctx, rows)
}

// takeTurns measures blocks of n rounds, of which it fills in the times and the processor
// nanoseconds of this rank, and returns how many each contender ran. A contender's turn begins with a block that does not
// count: it finds in the caches what another one has left there, which programs that
// do one thing do not.
func (b *Bench) takeTurns(ctx context.Context, w Workload, times [][]time.Duration, used []int64, n int) (runs int, err error) {
	warm := len(w.Contenders) > 1 && !b.checks(w)
	for from, blocks := 0, len(times[0]); from < blocks; from += turn {
		part := min(turn, blocks-from)
		runs += part
		if warm {
			runs++
		}
		for c := range w.Contenders {
			if warm {
				if _, err := b.block(ctx, w, c, n); err != nil {
					return runs, err
				}
			}
			before := b.Processors()
			for i := range part {
				if times[c][from+i], err = b.block(ctx, w, c, n); err != nil {
					return runs, err
				}
			}
			used[c] += int64(b.Processors() - before)
		}
	}
	return runs, nil
}

// Processors is the processor time that this rank has used; the first has that of all where ranks
// are goroutines of one process. It is 0 where the system does not tell.
func (b *Bench) Processors() time.Duration {
	if b.Transport == "loopback" && b.P.Rank() > 0 {
		return 0
	}
	use, _ := process.MeasureProcessor()
	return use.CPU
}

// blocksFor is how many blocks of that length to measure in so much time: more than fit
// where that is too few for a percentile, unless it takes too long.
func blocksFor(time, block time.Duration) int {
	block = max(block, 1)
	most := max(MinBlocks*time/block, FewBlocks)
	return int(min(max(time/block, min(MinBlocks, most)), MaxBlocks))
}

// calibrate finds how many rounds of the first contender fill a block, and
// how long such a block takes. It warms up caches, links and page tables.
func (b *Bench) calibrate(ctx context.Context, w Workload) (n int, block time.Duration, err error) {
	if b.checks(w) {
		start := time.Now()
		if err := b.tryAll(ctx, w); err != nil {
			return 0, 0, err
		}
		took := []time.Duration{time.Since(start) / time.Duration(len(w.Contenders))}
		err := b.Slowest(ctx, took)
		return 1, took[0], err
	}
	enough := min(blockTime, b.Rules.Time) / 2
	for n = 1; ; n *= 2 {
		for c := len(w.Contenders) - 1; c >= 0; c-- {
			if block, err = b.shortest(ctx, w, c, n, enough); err != nil {
				return 0, 0, err
			}
		}
		if block >= enough || n >= maxBatch {
			return n, block, nil
		}
	}
}

// shortest returns how long the shortest of a few blocks takes the slowest rank.
func (b *Bench) shortest(ctx context.Context, w Workload, c, n int, enough time.Duration) (time.Duration, error) {
	least := time.Duration(math.MaxInt64)
	for run := 0; !isKnown(run, least, enough); run++ {
		took, err := b.block(ctx, w, c, n)
		if err != nil {
			return 0, err
		}
		slowest := []time.Duration{took}
		if err := b.Slowest(ctx, slowest); err != nil {
			return 0, err
		}
		least = min(least, slowest[0])
	}
	return least, nil
}

// isKnown reports whether the length of a block is known after so many runs, of which the shortest took so long. Two
// are enough for one that is too short to be measured, or so long that its first operations do not matter. Others are
// run warmBlocks times: what first touches memory, or finds connections and threads at rest, takes up to four times as
// long, and would end a calibration with blocks that are mostly the way out of a barrier.
func isKnown(runs int, least, enough time.Duration) bool {
	return runs >= warmBlocks || runs >= 2 && (least < enough || least >= 2*blockTime)
}

// block runs one batch on all ranks at once and returns how long it took here,
// 0 where this rank's clock does not count.
func (b *Bench) block(ctx context.Context, w Workload, c, n int) (time.Duration, error) {
	if b.checks(w) {
		return b.try(ctx, w, c)
	}
	if err := b.P.Barrier(ctx, b.P.World()); err != nil {
		return 0, err
	}
	start := time.Now()
	if err := w.Contenders[c].Batch(n); err != nil {
		return 0, err
	}
	if !w.Timed {
		return 0, nil
	}
	return time.Since(start), nil
}

// checks reports whether each operation of a workload is checked. A block is then
// one operation.
func (b *Bench) checks(w Workload) bool { return b.Rules.Verify && w.Checks != nil }

// tryAll does and checks one operation of each contender.
func (b *Bench) tryAll(ctx context.Context, w Workload) error {
	for c := range w.Checks {
		if _, err := b.try(ctx, w, c); err != nil {
			return err
		}
	}
	return nil
}

// try does one operation with fresh inputs, checks its result, and returns how
// long it took.
func (b *Bench) try(ctx context.Context, w Workload, c int) (time.Duration, error) {
	b.Tries++
	w.Checks[c].Fill(b.Tries)
	if err := b.P.Barrier(ctx, b.P.World()); err != nil {
		return 0, err
	}
	start := time.Now()
	if err := w.Contenders[c].Batch(1); err != nil {
		return 0, err
	}
	took := time.Since(start)
	if err := w.Checks[c].Check(b.Tries); err != nil {
		return 0, fmt.Errorf("%s: %w", w.Contenders[c].Impl, err)
	}
	return took, nil
}

// Slowest replaces each time by that of the rank that took longest.
func (b *Bench) Slowest(ctx context.Context, times []time.Duration) error {
	for chunk := 255; len(times) > 0; times = times[min(chunk, len(times)):] {
		part := make([]int64, min(chunk, len(times)))
		for i := range part {
			part[i] = int64(times[i])
		}
		if err := gaspi.AllReduce(ctx, b.P.World(), part, part, gaspi.Max); err != nil {
			return err
		}
		for i := range part {
			times[i] = time.Duration(part[i])
		}
	}
	return nil
}

// mallocs is how many heap objects this process has made.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}
