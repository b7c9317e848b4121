package model

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// crowdAlgorithm is the barrier that Switch is found by.
const crowdAlgorithm = "dissemination"

// tuneSwitch finds what it costs to hand a core to another rank: that by which a
// barrier of more ranks than cores takes as long in the model as it does.
func (b *Tuner) tuneSwitch(ctx context.Context, m *price.Machine) (float64, error) {
	t, err := collectives.NewTeam(ctx, b.P.World(), collectives.Config{Machine: m, Algorithms: "barrier:" + crowdAlgorithm})
	if err != nil {
		return 0, err
	}
	measured, err := b.seconds(ctx, "a barrier", 1, measure.Repeat(ctx, func(ctx context.Context) error { return collectives.Barrier(ctx, t) }))
	if err != nil {
		return 0, err
	}
	if err := t.Close(); err != nil {
		return 0, err
	}
	a, err := algorithms.Lookup(schedule.Barrier, crowdAlgorithm)
	if err != nil {
		return 0, err
	}
	call := &schedule.Call{Op: schedule.Barrier, Size: b.P.Size(), Line: limit.CacheLine, Nodes: make([]int, b.P.Size())}
	return solve(measured, mostSwitch, func(x float64) (float64, error) {
		with := *m
		with.Switch = x
		const runs = 2
		seconds, err := price.Predict(&with, call, a.Emit, price.Load{Runs: runs})
		return seconds / runs, err
	})
}

const mostSwitch = 1e-3 // seconds; a system takes microseconds

// solve finds x in [0, most] for which f, which grows, is y, as well as 50 halvings
// can tell.
func solve(y, most float64, f func(float64) (float64, error)) (float64, error) {
	low, high := 0.0, most
	for range 50 {
		x := (low + high) / 2
		got, err := f(x)
		if err != nil {
			return 0, err
		}
		if got < y {
			low = x
		} else {
			high = x
		}
	}
	return (low + high) / 2, nil
}

// checked are the algorithms that the model is compared with.
func checked() []string { return []string{"dissemination", "doubling", "ring", "direct"} }

// mostSmall is the largest vector that algorithms for small ones are tried with.
const mostSmall = 16 << 10

// A guess is a call in the model and in truth.
type guess struct {
	bytes               uint64
	algorithm           string
	predicted, measured float64 // seconds
}

// checkModel compares what an allreduce takes with what the model says.
func (b *Tuner) checkModel(ctx context.Context) error {
	var all []guess
	for _, n := range b.sizes {
		for _, name := range checked() {
			if n > mostSmall && (name == "dissemination" || name == "doubling") {
				continue
			}
			g, err := b.guess(ctx, n, name)
			if err != nil {
				return err
			}
			all = append(all, g)
		}
	}
	return b.Out.Print(guessLines(b.P.Size(), all))
}

// guess measures one call.
func (b *Tuner) guess(ctx context.Context, n uint64, algorithm string) (guess, error) {
	c := b.call
	c.Algorithm = algorithm
	s := c.Shape(b.P.Size(), n)
	g := guess{bytes: s.Bytes(), algorithm: algorithm}
	k, err := c.Open(ctx, b.P, s)
	if err != nil {
		return g, err
	}
	all, err := collectives.Explain(k.Team, k.Task)
	if err != nil {
		return g, err
	}
	// The name of the candidate may have numbers of segments behind that of the algorithm.
	i := slices.IndexFunc(all, func(x collectives.Candidate) bool { return x.Chosen && strings.HasPrefix(x.Algorithm, algorithm) })
	if i < 0 {
		return g, fmt.Errorf("%s is not chosen for an allreduce of %s", algorithm, bytesize.Format(n))
	}
	g.predicted = all[i].Seconds
	b.Out.Doing("allreduce by "+algorithm, g.bytes)
	rows, err := b.Measure(ctx, measure.Workload{Timed: true, Steps: 1, Contenders: []measure.Contender{{Impl: report.ImplGaspi, Batch: measure.Repeat(ctx, k.Once)}}})
	if err != nil {
		return g, err
	}
	g.measured = rows[0].P50US * 1e-6
	return g, k.Release(ctx)
}

// guessLines are what the model said beside what was.
func guessLines(ranks int, all []guess) []string {
	lines := []string{"", fmt.Sprintf("allreduce of float64 in place, %d ranks:", ranks),
		fmt.Sprintf("%9s  %-14s %12s %12s %7s", "bytes", "algorithm", "predicted us", "measured us", "ratio")}
	for _, g := range all {
		lines = append(lines, fmt.Sprintf("%9s  %-14s %12s %12s %6.2fx",
			bytesize.Format(g.bytes), g.algorithm, report.Number(g.predicted*1e6), report.Number(g.measured*1e6), g.predicted/g.measured))
	}
	off, lost := verdict(all)
	return append(lines, fmt.Sprintf("off by a factor of %.2f (median); what the model chooses among these takes %.2f times the fastest at worst", off, lost))
}

// verdict is the median of the factors by which the model is off, and the largest
// by which what it chooses is slower than the fastest.
func verdict(all []guess) (off, lost float64) {
	var factors []float64
	lost = 1
	for i, g := range all {
		factors = append(factors, math.Exp(math.Abs(math.Log(g.predicted/g.measured))))
		if i > 0 && all[i-1].bytes == g.bytes {
			continue
		}
		chosen, fastest := g, g
		for _, other := range all[i:] {
			if other.bytes != g.bytes {
				break
			}
			if other.predicted < chosen.predicted {
				chosen = other
			}
			if other.measured < fastest.measured {
				fastest = other
			}
		}
		lost = max(lost, chosen.measured/fastest.measured)
	}
	slices.Sort(factors)
	return factors[(len(factors)-1)/2], lost
}
