package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives/schedule"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// predict compares the model that algorithms are chosen by with what calls take.
func predict() operation {
	return operation{
		name: "predict",
		about: `every collective operation by every algorithm that the library would
consider: what the model says it takes, beside the median of what it took; then how
many of these the model foretells within a quarter, and how often what it chooses
takes at most a tenth longer than the fastest. It is meant for --emulate, whose
network is the model's. Limit: none; the model stands beside what was measured.`,
		minRanks: 2,
		sizes:    []uint64{8, 1 << 10, 16 << 10, 128 << 10, 1 << 20},
		main:     predictAll,
	}
}

// A pricedCall is a call in the model and in truth. Times are seconds.
type pricedCall struct {
	guess
	op     string
	chosen bool // by the library
}

// predictAll is what each rank does for predict.
func predictAll(ctx context.Context, p *gaspi.Proc, o *options, _ int, out *report.Printer) error {
	transport, err := transportsOf(p)
	if err != nil {
		return err
	}
	b := &bench{opts: o, p: p, transport: transport, out: out}
	var all []pricedCall
	for _, op := range schedule.Operations() {
		for i, size := range o.sizes {
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
	if err := errors.Join(out.PrintHeaded(pointLines(p.Size(), all)), out.Punctual(p, b.punctual)); err != nil {
		return err
	}
	return p.Barrier(ctx, p.World())
}

// predictCall measures a call by every algorithm that comes into question, each cut as
// the model finds best.
func (b *bench) predictCall(ctx context.Context, op schedule.Operation, size uint64) ([]pricedCall, error) {
	auto := collective{what: op, algorithm: algorithmAuto, dtype: dtypes()[0]}
	if op == schedule.AllToAll { // whose size is that of a block
		size = max(8, size/uint64(b.p.Size()))
	}
	all, err := b.candidates(ctx, &auto, size)
	if err != nil {
		return nil, err
	}
	var points []pricedCall
	var names []string
	for _, c := range all {
		name := algorithmOf(c.Algorithm)
		if slices.Contains(names, name) && !c.Chosen {
			continue
		}
		names = append(names, name)
		with := auto
		if err := with.cut(c.Algorithm); err != nil {
			return nil, err
		}
		b.out.Doing(fmt.Sprintf("%v by %s", op, c.Algorithm), size)
		seconds, bytes, err := b.two(ctx, &with, size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Algorithm, err)
		}
		points = append(points, pricedCall{guess{bytes, c.Algorithm, c.Seconds, seconds}, op.String(), c.Chosen})
	}
	return points, nil
}

// cut sets the algorithm and its segments as the name of a candidate says.
func (c *collective) cut(candidate string) error {
	c.algorithm = algorithmOf(candidate)
	rest := strings.TrimPrefix(candidate, c.algorithm)
	rest, _, _ = strings.Cut(rest, " ")
	size, times, many := strings.Cut(rest, "x")
	var err error
	if many {
		if c.segments, err = strconv.Atoi(times); err != nil {
			return fmt.Errorf("candidate %q: %w", candidate, err)
		}
	}
	if elements, cut := strings.CutPrefix(size, "/"); cut {
		n, err := strconv.Atoi(elements)
		if err != nil {
			return fmt.Errorf("candidate %q: %w", candidate, err)
		}
		c.segmentSize = uint64(n * c.dtype.size)
	}
	return nil
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
func (b *bench) two(ctx context.Context, c *collective, size uint64) (float64, uint64, error) {
	t, err := b.newTeam(ctx, c)
	if err != nil {
		return 0, 0, err
	}
	s := c.shape(b.p.Size(), size)
	k, err := c.dtype.open(ctx, t, c, s)
	if err != nil {
		return 0, 0, err
	}
	alarm, err := sys.NewAlarm()
	if err != nil {
		return 0, 0, err
	}
	defer alarm.Close()
	var times []time.Duration
	var first time.Duration
	for i := range mostBlocks {
		began, took, err := b.atOnce(ctx, alarm, k.once)
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
	if err := b.slowest(ctx, times); err != nil {
		return 0, 0, err
	}
	late, _, err := b.carried(ctx)
	if err != nil {
		return 0, 0, err
	}
	b.punctual = b.punctual.Merge(late)
	slices.Sort(times)
	return times[len(times)/2].Seconds() / predictRuns, s.bytes(), errors.Join(k.release(ctx), t.Close())
}

// headStart is enough for all ranks to hear when they begin, and to fall asleep.
const headStart = 2 * time.Millisecond

// atOnce makes the calls of a block and returns the instant at which all ranks began, and
// how long it took from then: a barrier would let them go when its last messages come.
func (b *bench) atOnce(ctx context.Context, alarm *sys.Alarm, once func(context.Context) error) (began, took time.Duration, err error) {
	begin, err := b.instant(ctx)
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

// instant agrees on a time of the host's clock at which all ranks can begin.
func (b *bench) instant(ctx context.Context) (int64, error) {
	now, err := sys.Monotonic()
	if err != nil {
		return 0, err
	}
	network, _ := b.p.Emulated()
	begin := []int64{now + int64(headStart+4*network.Latency)}
	err = gaspi.AllReduce(ctx, b.p.World(), begin, begin, gaspi.Max)
	return begin[0], err
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
