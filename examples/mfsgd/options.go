package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/jitter"
	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/synth"
	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/spf13/pflag"
)

// options are what the command line asks for, checked as far as one rank can.
type options struct {
	ratings string           // file; empty for a synthetic set
	shape   synth.Dimensions // of the synthetic set

	factors    int
	slacks     []int
	iterations int     // how many at most
	untilRMSE  float64 // 0 for a fixed number of iterations
	jitter     jitter.Spec
	seed       uint64

	json, plot string // files to write; empty for none
	help       bool
}

// Bounds of what may be asked for. Iterations and slack travel in a float32
// through the sum and must stay far below 2^24, beyond which it has gaps.
const (
	maxFactors    = 1024
	maxSlack      = 10_000
	maxIterations = 1_000_000

	defaultIterations = 200
	untilIterations   = 5_000 // for a target that may never be reached
)

// defaultShape is learned within seconds by four ranks on two cores.
func defaultShape() synth.Dimensions {
	return synth.Dimensions{Users: 40_000, Items: 6_000, Ratings: 2_000_000}
}

// flags binds o to its command line.
func flags(o *options) *pflag.FlagSet {
	f := program.NewFlags("mfsgd")
	f.StringVar(&o.ratings, "ratings", "", "learn from `FILE` of MovieLens: ratings.csv, ratings.dat or u.data, plain, .gz, .zst, or in\nthe .zip that is downloaded")
	f.Var(&program.Value{Text: defaultShape().String(), Kind: "USERSxITEMSxRATINGS", Take: program.Into(&o.shape, synth.ParseShape)}, "synthetic",
		"learn from a made-up set of this size; ml-25m stands for the size of MovieLens 25M and ml-25m/N for an N-th of it")
	f.Var(program.Whole(&o.factors, "K", 16, 1, maxFactors), "rank", "factors per user and item")
	f.Var(&program.Value{Text: "0", Kind: "S[,S...]", Take: program.Into(&o.slacks, parseSlacks)}, "slack",
		"iterations by which a rank may be ahead of others; several run one after the other (default 0)")
	f.Var(program.Whole(&o.iterations, "N", defaultIterations, 1, maxIterations), "iterations",
		fmt.Sprintf("passes over the ratings; with --until-rmse the most there may be (then %d)", untilIterations))
	f.Var(&program.Value{Kind: "X", Take: program.Into(&o.untilRMSE, parseTarget)}, "until-rmse", "stop once the held-out RMSE is at most X stars")
	f.Var(&program.Value{Text: "none", Kind: "DIST", Take: program.Into(&o.jitter, jitter.Parse)}, "jitter",
		"sleep in every iteration, as on a busy cluster: "+jitter.Forms)
	f.Uint64Var(&o.seed, "seed", 1, "`NUMBER` that the synthetic set, the split, the first factors and the jitter follow from")
	f.StringVar(&o.json, "json", "", "write all figures to `FILE`")
	f.StringVar(&o.plot, "plot", "", "draw error and iterations over time into `FILE`, an SVG")
	f.BoolVarP(&o.help, "help", "h", false, "show this help")
	return f
}

// parse reads the command line.
func parse(args []string) (options, error) {
	o := options{shape: defaultShape(), slacks: []int{0}}
	f := flags(&o)
	if err := f.Parse(args); err != nil || o.help {
		return o, err
	}
	if f.Changed("ratings") && f.Changed("synthetic") {
		return o, errors.New("--ratings and --synthetic exclude each other; give one of them")
	}
	if f.Changed("until-rmse") && !f.Changed("iterations") {
		o.iterations = untilIterations
	}
	return o, program.CheckRest(f, "ratings", "json", "plot")
}

// parseSlacks reads "0,2,32".
func parseSlacks(text string) ([]int, error) {
	return program.List(text, func(field string) (int, error) {
		slack, err := program.ParseWhole(field, 0, maxSlack)
		if err != nil {
			err = fmt.Errorf("%q is no slack: %w", field, err)
		}
		return slack, err
	})
}

// parseTarget reads an error to stop at.
func parseTarget(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || x <= 0 || x > 4.5 {
		return 0, errors.New("expected a number of stars above 0 and at most 4.5")
	}
	return x, nil
}

// help is the text of --help.
func help() string {
	var o options
	return `mfsgd factorizes a matrix of ratings by stochastic gradient descent on all ranks
of a job. The ranks share what they learn about the items through a
stale-synchronous sum, in which a fast rank need not wait for a slow one until
it is SLACK iterations ahead.

Usage:
  gaspi-run -n RANKS ./examples/mfsgd [FLAGS]

Examples:
  # a made-up set, on four ranks that may be two iterations apart
  gaspi-run -n 4 ./examples/mfsgd --slack 2

  # MovieLens 25M (https://grouplens.org/datasets/movielens/25m/)
  gaspi-run -n 4 ./examples/mfsgd --ratings ml-25m.zip --slack 2

  # what slack is worth on a noisy cluster, as figures and as a drawing
  gaspi-run -n 8 ./examples/mfsgd --synthetic 8000x2000x300000 --slack 0,2,32 \
      --jitter lognormal --until-rmse 0.80 --json slack.json --plot slack.svg

Flags:
` + flags(&o).FlagUsagesWrapped(80)
}
