package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/internal/chart"
)

// writeTable prints one line per slack, and what slack was worth.
func (r *Report) writeTable(w io.Writer) {
	fmt.Fprintln(w, "slack  iterations  seconds  held-out RMSE  waiting  staleness mean   max")
	for _, run := range r.Runs {
		fmt.Fprintf(w, "%5d  %10d  %7.2f  %13.4f  %6.1f%%  %14.2f  %4d\n", run.Slack, run.Iterations,
			run.Seconds, run.RMSE, 100*run.Waiting, run.StalenessMean, run.StalenessMax)
	}
	if line := r.comparison(); line != "" {
		fmt.Fprintln(w, line)
	}
}

// comparison says, as the paper does, how long each slack took to the same
// error: the target, or the highest of those that the runs ended with.
func (r *Report) comparison() string {
	if len(r.Runs) < 2 {
		return ""
	}
	level := r.level()
	parts := make([]string, 0, len(r.Runs))
	first := 0.0
	for _, run := range r.Runs {
		iteration, seconds := run.timeTo(level, r.UntilRMSE)
		if iteration == 0 {
			return ""
		}
		part := fmt.Sprintf("slack %d took %.2f s and %d iterations", run.Slack, seconds, iteration)
		if first == 0 {
			first = seconds
		} else {
			part += fmt.Sprintf(" (%.2fx as fast as slack %d)", first/seconds, r.Runs[0].Slack)
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf("To a held-out RMSE of %.4f, %s.", level, strings.Join(parts, ", "))
}

// level is an error that every run got to: the target if they did, or else the
// highest of the lowest that the averages of the ranks tell.
func (r *Report) level() float64 {
	level, reached := 0.0, r.UntilRMSE > 0
	for _, run := range r.Runs {
		level = max(level, run.Mean.least())
		reached = reached && run.Reached
	}
	if reached {
		return r.UntilRMSE
	}
	return level
}

// timeTo returns the first iteration with an error of at most level, from 1, and
// when it ended; (0, 0) if there is none.
func (run *Run) timeTo(level, target float64) (iteration int, seconds float64) {
	if run.Reached && level == target {
		return run.Iterations, run.Seconds
	}
	if iteration = run.Mean.firstAtMost(level); iteration == 0 {
		return 0, 0
	}
	return iteration, run.Mean.Seconds[iteration-1]
}

// least returns the lowest known error; with none, NaN.
func (s Series) least() float64 {
	least := math.NaN()
	for _, e := range s.RMSE {
		if !(e >= least) && !math.IsNaN(e) {
			least = e
		}
	}
	return least
}

// firstAtMost returns the first iteration with an error of at most level, from
// 1; with none, 0.
func (s Series) firstAtMost(level float64) int {
	for i, e := range s.RMSE {
		if e <= level {
			return i + 1
		}
	}
	return 0
}

// figure returns the drawing of the report.
//
// It follows Figure 6 of "Eventually consistent collectives": the error over time on
// the left, the iterations done over time on the right.
func (r *Report) figure() chart.Chart {
	left := chart.Panel{XLabel: "time (s)", YLabel: "held-out RMSE (stars)", Cut: true, Level: r.UntilRMSE}
	right := chart.Panel{XLabel: "time (s)", YLabel: "iterations"}
	for _, run := range r.Runs {
		errs := chart.Curve{Name: fmt.Sprintf("slack %d", run.Slack), X: run.Mean.Seconds, Y: run.Mean.RMSE}
		done := chart.Curve{Name: errs.Name, X: errs.X, Y: make([]float64, len(errs.X))}
		for i := range done.Y {
			done.Y[i] = float64(i + 1)
		}
		left.Curves, right.Curves = append(left.Curves, errs), append(right.Curves, done)
	}
	return chart.Chart{
		Title:  fmt.Sprintf("Matrix factorization with stale-synchronous sums: %s, jitter %s", program.Plural(r.Ranks, "rank"), r.Jitter),
		Panels: []chart.Panel{left, right},
	}
}
