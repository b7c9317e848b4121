package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gaspi-go/gaspi-go/examples/fft/distfft"
	"github.com/spf13/pflag"
)

// options are what the command line asks for, checked as far as that goes without
// knowing the number of ranks.
type options struct {
	grids    []distfft.Grid
	overlaps []int
	bands    int
	repeat   int

	pencil    bool
	rankGrid  [2]int // P, Q; zeros leave it to the program
	single    bool   // float32
	real      bool
	algorithm string // empty for the model's choice

	verify     bool
	seed       uint64
	json, plot string // files to write; empty for none
	help       bool
}

// Bounds of what may be asked for: far beyond use, and such that everything can be counted.
const (
	maxBands   = 1 << 16
	maxRepeat  = 100_000
	maxOverlap = 64
	maxSide    = 1 << 40
)

// A value is a flag whose text is checked while flags are parsed, so that the
// message names the flag.
type value struct {
	text string // shown as the default
	kind string // shown in the help
	set  func(text string) error
}

func (v *value) String() string { return v.text }
func (v *value) Type() string   { return v.kind }
func (v *value) Set(text string) error {
	v.text = text
	return v.set(text)
}

// flags binds o to its command line.
func flags(o *options) *pflag.FlagSet {
	f := pflag.NewFlagSet("fft", pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {}
	f.Var(&value{"64x64x64", "NXxNYxNZ[,...]", func(s string) (err error) {
		o.grids, err = list(s, parseGrid)
		return err
	}}, "grid", "points of a band along each axis; several grids run one after the other")
	f.Var(&value{"4", "B", wholeInto(&o.bands, 1, maxBands)}, "bands", "grids to transform in one go")
	f.Var(&value{"slab", "slab|pencil", oneOf(func(s string) { o.pencil = s == "pencil" }, "slab", "pencil")}, "decomposition",
		"cut grids along one axis, with one exchange, or along two, with two and more ranks")
	f.Var(&value{"", "PxQ", func(s string) (err error) {
		o.rankGrid, err = parseRankGrid(s)
		return err
	}}, "grid-ranks", "ranks along each cut of pencils (default near a square)")
	f.Var(&value{"64", "64|32", oneOf(func(s string) { o.single = s == "32" }, "64", "32")}, "precision", "float64 or float32 throughout")
	f.Var(&value{"c2c", "c2c|r2c", oneOf(func(s string) { o.real = s == "r2c" }, "c2c", "r2c")}, "kind", "complex bands, or real ones with half of the spectrum")
	f.Var(&value{"10", "N", wholeInto(&o.repeat, 1, maxRepeat)}, "repeat", "measure so many times; medians are shown")
	f.Var(&value{"1", "K[,...]", func(s string) (err error) {
		o.overlaps, err = list(s, func(s string) (n int, err error) { return n, wholeInto(&n, 0, maxOverlap)(s) })
		return err
	}}, "overlap", "bands that are exchanged while the next is transformed; 0 takes turns; several are measured in turn")
	f.Var(&value{"auto", "direct|pairwise|bruck|auto", oneOf(func(s string) { o.algorithm = strings.TrimPrefix(s, "auto") }, "direct", "pairwise", "bruck", "auto")},
		"alltoall", "algorithm of the exchange")
	f.BoolVar(&o.verify, "verify", false, "compare the first band with a transform on rank 0 alone, which takes the memory of whole grids there")
	f.Uint64Var(&o.seed, "seed", 1, "`NUMBER` that the bands follow from")
	f.StringVar(&o.json, "json", "", "write all figures to `FILE`")
	f.StringVar(&o.plot, "plot", "", "draw where the time went into `FILE`, an SVG")
	f.BoolVarP(&o.help, "help", "h", false, "show this help")
	return f
}

// parse reads the command line.
func parse(args []string) (options, error) {
	o := options{
		grids: []distfft.Grid{{NX: 64, NY: 64, NZ: 64}}, overlaps: []int{1}, bands: 4, repeat: 10,
	}
	f := flags(&o)
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.help {
		return o, nil
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; everything is said with flags", f.Arg(0))
	}
	for _, name := range []string{"json", "plot"} {
		if f.Changed(name) && f.Lookup(name).Value.String() == "" {
			return o, fmt.Errorf("--%s needs the name of a file; found an empty one", name)
		}
	}
	if o.json != "" && o.plot != "" && filepath.Clean(o.json) == filepath.Clean(o.plot) {
		return o, fmt.Errorf("--json and --plot both name %s; give two files", o.json)
	}
	if f.Changed("grid-ranks") && !o.pencil {
		return o, errors.New("--grid-ranks is for pencils; add --decomposition pencil or leave it out")
	}
	return o, nil
}

// list reads what stands between commas, each once.
func list[T comparable](text string, one func(string) (T, error)) ([]T, error) {
	var all []T
	for _, s := range strings.Split(text, ",") {
		v, err := one(s)
		if err != nil {
			return nil, err
		}
		if slices.Contains(all, v) {
			return nil, fmt.Errorf("%s is given twice", s)
		}
		all = append(all, v)
	}
	return all, nil
}

// parseGrid reads "NXxNYxNZ".
func parseGrid(text string) (distfft.Grid, error) {
	n, err := sizes(text, 3)
	if err != nil {
		return distfft.Grid{}, fmt.Errorf("%q is no grid: expected NXxNYxNZ, three whole numbers from 1 to %d", text, maxSide)
	}
	return distfft.Grid{NX: n[0], NY: n[1], NZ: n[2]}, nil
}

// parseRankGrid reads "PxQ".
func parseRankGrid(text string) ([2]int, error) {
	n, err := sizes(text, 2)
	if err != nil {
		return [2]int{}, fmt.Errorf("%q is no grid of ranks: expected PxQ, two whole numbers from 1 to %d", text, maxSide)
	}
	return [2]int(n), nil
}

// sizes reads numbers with an x between them.
func sizes(text string, count int) ([]int, error) {
	parts := strings.Split(text, "x")
	if len(parts) != count {
		return nil, errors.New("another count of numbers")
	}
	n := make([]int, count)
	for i, s := range parts {
		if err := wholeInto(&n[i], 1, maxSide)(s); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// wholeInto returns a setter for whole numbers within bounds.
func wholeInto(to *int, low, high int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < low || n > high {
			return fmt.Errorf("expected a whole number from %d to %d", low, high)
		}
		*to = n
		return nil
	}
}

// oneOf returns a setter for one of some words.
func oneOf(set func(string), words ...string) func(string) error {
	return func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("expected one of %s", strings.Join(words, ", "))
		}
		set(text)
		return nil
	}
}

// help is what --help shows.
func help() string {
	var o options
	return `fft transforms three-dimensional grids that are spread over ranks, and says
where the time went.

Usage: gaspi-run -n N ./examples/fft [flags]

Examples:
  # 8 bands, each exchanged while the next one is transformed
  gaspi-run -n 4 ./examples/fft --grid 128x128x128 --bands 8

  # what overlap is worth on links of 10 Gbit/s, as a drawing
  gaspi-run -n 4 --emulate latency=50us,bandwidth=1.25GB/s \
      ./examples/fft --grid 20x20x20,24x24x24 --overlap 0,4 --plot fft.svg

Flags:
` + flags(&o).FlagUsagesWrapped(80)
}
