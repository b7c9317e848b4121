package main

import (
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/jitter"
	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/synth"
	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	base := options{shape: defaultShape(), factors: 16, slacks: []int{0}, iterations: defaultIterations, seed: 1}
	with := func(change func(*options)) options {
		o := base
		change(&o)
		return o
	}
	tests := []struct {
		args string
		want options
	}{
		{"", base},
		{"--slack 2", with(func(o *options) { o.slacks = []int{2} })},
		{"--slack=0,2,32 --rank 8", with(func(o *options) { o.slacks, o.factors = []int{0, 2, 32}, 8 })},
		{"--ratings r.csv --seed 9", with(func(o *options) { o.ratings, o.seed = "r.csv", 9 })},
		{"--synthetic 10x20x30", with(func(o *options) { o.shape = synth.Dimensions{Users: 10, Items: 20, Ratings: 30} })},
		{"--synthetic ml-25m", with(func(o *options) { o.shape = synth.MovieLens25M() })},
		{"--until-rmse 0.8", with(func(o *options) { o.untilRMSE, o.iterations = 0.8, untilIterations })},
		{"--until-rmse 0.8 --iterations 7", with(func(o *options) { o.untilRMSE, o.iterations = 0.8, 7 })},
		{"--json a --plot b", with(func(o *options) { o.json, o.plot = "a", "b" })},
		{"-h", with(func(o *options) { o.help = true })},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			got, err := parse(strings.Fields(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(options{}), cmp.Comparer(func(a, b jitter.Spec) bool { return a == b })); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseJitter(t *testing.T) {
	o, err := parse([]string{"--jitter", "straggler:1,3"})
	if err != nil || o.jitter.String() != "straggler:1,3,20ms" {
		t.Errorf("got %v, %v", o.jitter, err)
	}
}

// TestParseRejects states the sentence for each mistake on the command line.
func TestParseRejects(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"--slack", "-1"}, `invalid argument "-1" for "--slack" flag: "-1" is no slack: expected a whole number from 0 to 10000`},
		{[]string{"--slack", "two"}, `invalid argument "two" for "--slack" flag: "two" is no slack: expected a whole number from 0 to 10000`},
		{[]string{"--slack", "0,,2"}, `invalid argument "0,,2" for "--slack" flag: "" is no slack: expected a whole number from 0 to 10000`},
		{[]string{"--slack", "2,2"}, `invalid argument "2,2" for "--slack" flag: 2 is given twice`},
		{[]string{"--rank", "0"}, `invalid argument "0" for "--rank" flag: expected a whole number from 1 to 1024`},
		{[]string{"--rank", "-3"}, `invalid argument "-3" for "--rank" flag: expected a whole number from 1 to 1024`},
		{[]string{"--rank", "1e3"}, `invalid argument "1e3" for "--rank" flag: expected a whole number from 1 to 1024`},
		{[]string{"--iterations", "0"}, `invalid argument "0" for "--iterations" flag: expected a whole number from 1 to 1000000`},
		{[]string{"--until-rmse", "NaN"}, `invalid argument "NaN" for "--until-rmse" flag: expected a number of stars above 0 and at most 4.5`},
		{[]string{"--until-rmse", "-0.5"}, `invalid argument "-0.5" for "--until-rmse" flag: expected a number of stars above 0 and at most 4.5`},
		{[]string{"--synthetic", "10x20"}, `invalid argument "10x20" for "--synthetic" flag: "10x20" is no shape; expected USERSxITEMSxRATINGS, ml-25m, or ml-25m/N`},
		{[]string{"--jitter", "much"}, `invalid argument "much" for "--jitter" flag: jitter "much": expected ` + jitter.Forms},
		{[]string{"--ratings", "a", "--synthetic", "1x1x1"}, `--ratings and --synthetic exclude each other; give one of them`},
		{[]string{"--ratings", ""}, `--ratings needs the name of a file; found an empty one`},
		{[]string{"--json", "x", "--plot", "./x"}, `--json and --plot both name x; give two files`},
		{[]string{"--frobnicate"}, `unknown flag: --frobnicate`},
		{[]string{"ratings.csv"}, `unexpected argument "ratings.csv"; everything is said with flags`},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			_, err := parse(tt.args)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHelpNamesEveryFlag sees that the help is complete and fits a terminal.
func TestHelpNamesEveryFlag(t *testing.T) {
	text := help()
	for _, name := range []string{"ratings", "synthetic", "rank", "slack", "iterations", "until-rmse", "jitter", "seed", "json", "plot"} {
		if !strings.Contains(text, "--"+name+" ") {
			t.Errorf("--%s is not explained", name)
		}
	}
	for line := range strings.Lines(text) {
		if len(line) > 81 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
}
