package figure

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/loop"
	"github.com/gaspi-go/gaspi-go/internal/chart"
)

// staleFigures are Figs. 6 and 7 of the paper on eventually consistent collectives.
func staleFigures() []Figure {
	return []Figure{eventual6(), {
		Name: "eventual-7", Paper: eventual, Place: "Fig. 7", Title: "Stale reductions: time of the call, and waiting",
		About: "Every rank computes for a while that varies, and then takes part in a reduction that waits for no contribution younger than the slack allows; beside it a ring allreduce in the same loop.",
		Ways:  Ways(), Other: eventual7,
	}}
}

// loops are what is looked at in each way. On the paper's cluster a vector of 4 MB, that of
// the items of MovieLens 25M in 16 factors, moves from rank to rank in a third of a
// millisecond.
func loops(way Setting) loop.Loop {
	slacks := []int{0, 2, 8, 32, 64}
	switch way {
	case Simulated:
		m := edr() // Marenostrum4 has Omni-Path of 100 Gb/s
		m.Network.Latency = 0.9e-6
		return loop.Loop{Ranks: 32, Iterations: 300, Bytes: 4 * mib, Compute: 10 * time.Millisecond, Spread: 0.1, Slacks: slacks, Machine: m}
	case Emulated:
		return loop.Loop{Ranks: 8, Iterations: 100, Bytes: 64 * kib, Compute: 10 * time.Millisecond, Spread: 0.1, Slacks: slacks, Link: emulatedLink}
	}
	return loop.Loop{Ranks: 8, Iterations: 200, Bytes: mib, Compute: 10 * time.Millisecond, Spread: 0.1, Slacks: slacks}
}

// A looped is a loop that was run, as a figure.
type looped struct{ *loop.Measured }

// eventual7 makes Fig. 7.
func eventual7(ctx context.Context, lab *Lab, way Setting, _ time.Time) (*Part, error) {
	l := loops(way)
	if lab.Quick {
		l.Iterations, l.Slacks = l.Iterations/3, []int{0, 2, 64}
	}
	run := loop.Run
	if way == Simulated {
		run = loop.Simulate
	}
	if lab.Bench.Doing != nil && way != Simulated {
		lab.Bench.Doing("stale reductions, " + way.String())
	}
	made, err := run(ctx, l)
	cut := ""
	if err != nil {
		if ctx.Err() == nil || made == nil || math.IsNaN(made.Stale[0].Call) {
			return nil, err
		}
		cut = cutBy(ctx)
	}
	if way == Simulated {
		made.Setting = describe(&l.Machine)
	}
	r := &looped{made}
	p := &Part{
		Setting: fmt.Sprintf("%s; %d ranks, %s, computing takes %v on average and varies by %.0f %%", r.Setting, l.Ranks, showBytes(float64(l.Bytes)), l.Compute, 100*l.Spread),
		Doubt:   r.Doubt, Cut: cut, Charts: r.charts(way), Tables: []Table{r.table()},
	}
	p.judge(&SweepTimes{Way: way, Doubt: r.Doubt}, r.claims()...)
	return p, nil
}

// claims returns the claims of Fig. 7 and of the right half of Fig. 6.
func (r *looped) claims() []*Claim {
	first, last, best := r.Stale[0], r.Stale[len(r.Stale)-1], math.Inf(1)
	for _, row := range r.Stale {
		best = min(best, row.Call)
	}
	return []*Claim{{
		Text: "the ring is faster than the stale reduction for large vectors where ranks do not differ", Kind: Gain,
		Paper: between(1.58, math.Inf(1), "Section V-a: the hypercube shuffles the entire vector"), Number: known(r.Calm[0].Call / r.Calm[1].Call),
	}, {
		Text: "the ring is faster than the stale reduction, whatever its slack", Kind: Gain,
		Paper: between(1.58, math.Inf(1), "Section V-a"), Number: known(best / r.Ring.Call),
		Why: []Reason{{
			Outcome: Weaker, Text: "A call of the ring waits for the slowest rank, and that makes up for part of the bytes that a hypercube sends more.",
		}, {
			Outcome: Reversed, Text: "With enough slack a call returns without waiting, and what it sends leaves while the rank computes; the ring waits in every call for the slowest rank and for all bytes.",
		}, {
			Outcome: Absent, Text: "The ring waits for the slowest rank in every call, about as long here as the hypercube takes to send the bytes that it sends more.",
		}},
	}, {
		Text: "part of the waiting at slack 0 that is left at the highest slack", Kind: Share,
		Paper: saying("none", "Section V-a"), Number: known(last.Wait / first.Wait),
	}, {
		Text: "iterations per second at the highest slack over those at slack 0", Kind: Gain,
		// -19 % of the time for 516 iterations in place of 500.
		Paper: exactly(516.0/500/0.81, "Section V-a: 19 % faster with 16 more iterations"), Number: known(last.Rate / first.Rate),
		Why: []Reason{{
			Outcome: Absent, Text: "Ranks differ too little here for waiting to matter.",
		}},
	}, {
		Text: "waiting never grows with the slack", Kind: Count,
		Paper: exactly(1, "Fig. 7 right"), Number: known(r.monotone()),
	}}
}

// monotone is 1 if waiting shrinks or stays with every slack, but for a percent of the
// call at slack 0; NaN if not all slacks were run.
func (r *looped) monotone() float64 {
	if math.IsNaN(r.Stale[len(r.Stale)-1].Wait) {
		return math.NaN()
	}
	for i := range r.Stale[1:] {
		if r.Stale[i+1].Wait > r.Stale[i].Wait+0.01*r.Stale[0].Call {
			return 0
		}
	}
	return 1
}

// charts draw the time of a call and its waiting over the slack.
func (r *looped) charts(way Setting) []chart.Chart {
	names := []string{"stale reduction", "waiting for contributions", nameRing}
	curves := make([]chart.Curve, len(names))
	rate := chart.Curve{Name: names[0]}
	for i, name := range names {
		curves[i].Name = name
		for j, slack := range r.Slacks {
			y := []float64{r.Stale[j].Call, r.Stale[j].Wait, r.Ring.Call}[i]
			curves[i].X, curves[i].Y = append(curves[i].X, float64(slack)), append(curves[i].Y, y*1e3)
		}
	}
	for j, slack := range r.Slacks {
		rate.X, rate.Y = append(rate.X, float64(slack)), append(rate.Y, r.Stale[j].Rate)
	}
	return []chart.Chart{{Title: way.String(), Panels: []chart.Panel{
		{Title: "time of a call", XLabel: "slack (iterations)", YLabel: "time (ms)", Curves: curves},
		{Title: "speed", XLabel: "slack (iterations)", YLabel: "iterations per second", Curves: []chart.Curve{rate}},
	}}}
}

func (r *looped) table() Table {
	t := Table{Title: "Averages over ranks and iterations", Head: []string{"reduction", "call (ms)", "waiting (ms)", "iterations/s"}}
	for i, slack := range r.Slacks {
		x := r.Stale[i]
		t.Rows = append(t.Rows, []string{fmt.Sprintf("slack %d", slack), showNumber(1e3 * x.Call), showNumber(1e3 * x.Wait), showNumber(x.Rate)})
	}
	t.Rows = append(t.Rows, []string{nameRing, showNumber(1e3 * r.Ring.Call), "-", showNumber(r.Ring.Rate)})
	for i, name := range []string{"slack 0, ranks alike", nameRing + ", ranks alike"} {
		t.Rows = append(t.Rows, []string{name, showNumber(1e3 * r.Calm[i].Call), "-", showNumber(r.Calm[i].Rate)})
	}
	return t
}
