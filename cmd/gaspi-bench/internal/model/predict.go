package model

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/collective"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
)

// PredictName is the name of the operation that compares the model with calls.
const PredictName = "predict"

// PredictOperation compares the model that algorithms are chosen by with what calls take.
func PredictOperation() measure.Benchmark {
	return measure.Benchmark{
		Name: PredictName,
		About: `every collective operation by every algorithm that the library would
consider: what the model says it takes, beside the median of what it took; then how
many of these the model foretells within a quarter, and how often what it chooses
takes at most a tenth longer than the fastest. It is meant for --emulate, whose
network is the model's. Limit: none; the model stands beside what was measured.`,
		MinRanks: 2,
		Sizes:    []uint64{8, 1 << 10, 16 << 10, 128 << 10, 1 << 20},
	}
}

// A pricedCall is a call in the model and in truth. Times are seconds.
type pricedCall struct {
	guess
	op     string
	chosen bool // by the library
}

// Predict is what each rank does for the operation of that name.
func (b *Tuner) Predict(ctx context.Context) error {
	var all []pricedCall
	for _, op := range schedule.Operations() {
		for i, size := range b.sizes {
			if op == schedule.Barrier && i > 0 {
				break
			}
			points, err := b.predictCall(ctx, op, size)
			if err != nil {
				return fmt.Errorf("%v of %s: %w", op, bytesize.Format(size), err)
			}
			all = append(all, points...)
		}
	}
	if err := b.Out.PrintHeaded(pointLines(b.P.Size(), all)); err != nil {
		return err
	}
	return b.Leave(ctx)
}

// predictCall measures a call by every algorithm that comes into question, each cut as
// the model finds best.
func (b *Tuner) predictCall(ctx context.Context, op schedule.Operation, size uint64) ([]pricedCall, error) {
	auto := collective.Spec{What: op, Algorithm: collective.Auto, Dtype: collective.Dtypes()[0]}
	if op == schedule.AllToAll { // whose size is that of a block
		size = max(8, size/uint64(b.P.Size()))
	}
	all, err := auto.Candidates(ctx, b.Bench, size)
	if err != nil {
		return nil, err
	}
	var points []pricedCall
	var names []string
	for _, c := range all {
		name := collective.AlgorithmOf(c.Algorithm)
		if slices.Contains(names, name) && !c.Chosen {
			continue
		}
		names = append(names, name)
		with := auto
		if err := with.Cut(c.Algorithm); err != nil {
			return nil, err
		}
		b.Out.Doing(fmt.Sprintf("%v by %s", op, c.Algorithm), size)
		seconds, bytes, err := b.two(ctx, &with, size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Algorithm, err)
		}
		points = append(points, pricedCall{guess{bytes, c.Algorithm, c.Seconds, seconds}, op.String(), c.Chosen})
	}
	return points, nil
}

// Blocks of two calls: so much the model looks at. They take long enough together that
// what disturbs a machine for some tens of milliseconds does not decide the median.
const (
	predictRuns = 2
	leastBlocks = 9
	mostBlocks  = 31
	blocksTime  = 120 * time.Millisecond
)

// two is half of what two calls take, the median of some blocks, in seconds, and the
// bytes of the call.
func (b *Tuner) two(ctx context.Context, c *collective.Spec, size uint64) (float64, uint64, error) {
	s := c.Shape(b.P.Size(), size)
	k, err := c.Open(ctx, b.P, s)
	if err != nil {
		return 0, 0, err
	}
	alarm, err := thread.NewAlarm()
	if err != nil {
		return 0, 0, err
	}
	defer alarm.Close()
	var times []time.Duration
	var first time.Duration
	for i := range mostBlocks {
		began, took, err := b.atOnce(ctx, alarm, k.Once)
		if err != nil {
			return 0, 0, err
		}
		if i == 0 { // it also makes the plan
			first = began
			continue
		}
		times = append(times, took)
		if len(times) >= leastBlocks && began-first > blocksTime {
			break // on all ranks, since all know when a block began
		}
	}
	if err := b.Slowest(ctx, times); err != nil {
		return 0, 0, err
	}
	late, _, err := b.Carried(ctx)
	if err != nil {
		return 0, 0, err
	}
	b.Punctual = b.Punctual.Merge(late)
	slices.Sort(times)
	return times[len(times)/2].Seconds() / predictRuns, s.Bytes(), k.Release(ctx)
}

// atOnce makes the calls of a block and returns the instant at which all ranks began, and
// how long it took from then: a barrier would let them go when its last messages come.
func (b *Tuner) atOnce(ctx context.Context, alarm *thread.Alarm, once func(context.Context) error) (began, took time.Duration, err error) {
	begin, err := b.Instant(ctx)
	if err != nil {
		return 0, 0, err
	}
	if err := alarm.Set(begin); err != nil {
		return 0, 0, err
	}
	alarm.Wait()
	for range predictRuns {
		if err := once(ctx); err != nil {
			return 0, 0, err
		}
	}
	end, err := sys.Monotonic()
	return time.Duration(begin), time.Duration(end - begin), err
}

// within reports whether the model was right about a point up to a part of it.
func (g *guess) within(part float64) bool { return math.Abs(g.predicted/g.measured-1) <= part }

// Limits within which a prediction counts as right, and a choice as good.
const (
	foretold   = 0.25
	chosenWell = 1.10
)

// pointLines are what the model said beside what was, and what that comes to.
func pointLines(ranks int, all []pricedCall) []string {
	lines := []string{"", fmt.Sprintf("%d ranks, float64 in place:", ranks),
		fmt.Sprintf("%-13s %9s  %-22s %12s %12s %7s", "op", "bytes", "algorithm", "predicted us", "measured us", "ratio")}
	for _, g := range all {
		mark := " "
		if g.chosen {
			mark = "*"
		}
		lines = append(lines, fmt.Sprintf("%-13s %9s %s%-22s %12s %12s %6.2fx",
			g.op, bytesize.Format(max(g.bytes, 1)), mark, g.algorithm, report.Number(g.predicted*1e6), report.Number(g.measured*1e6), g.predicted/g.measured))
	}
	right, well, calls := predictions(all)
	return append(lines, fmt.Sprintf("foretold within %.0f%%: %d of %d (%.0f%%); chosen within %.0f%% of the fastest: %d of %d (%.0f%%); * is what the model chooses",
		100*foretold, right, len(all), percent(right, len(all)), 100*(chosenWell-1), well, calls, percent(well, calls)))
}

func percent(part, all int) float64 { return 100 * float64(part) / float64(max(all, 1)) }

// predictions counts the points that the model foretold, and the calls, which are
// points of one operation and size, for which it chose well.
func predictions(all []pricedCall) (right, well, calls int) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].op == all[0].op && all[n].bytes == all[0].bytes {
			n++
		}
		fastest, chosen := math.Inf(1), math.Inf(1)
		for _, g := range all[:n] {
			fastest = min(fastest, g.measured)
			if g.chosen {
				chosen = g.measured
			}
			if g.within(foretold) {
				right++
			}
		}
		calls++
		if chosen <= fastest*chosenWell {
			well++
		}
		all = all[n:]
	}
	return right, well, calls
}
