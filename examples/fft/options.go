package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gaspi-go/gaspi-go/examples/fft/distfft"
	"github.com/gaspi-go/gaspi-go/examples/program"
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

// flags binds o to its command line.
func flags(o *options) *pflag.FlagSet {
	f := program.NewFlags("fft")
	f.Var(&program.Value{Text: "64x64x64", Kind: "NXxNYxNZ[,...]", Take: program.Into(&o.grids, parseGrids)}, "grid",
		"points of a band along each axis; several grids run one after the other")
	f.Var(program.Whole(&o.bands, "B", 4, 1, maxBands), "bands", "grids to transform in one go")
	f.Var(program.OneOf("slab|pencil", "slab", func(s string) { o.pencil = s == "pencil" }, "slab", "pencil"), "decomposition",
		"cut grids along one axis, with one exchange, or along two, with two and more ranks")
	f.Var(&program.Value{Kind: "PxQ", Take: program.Into(&o.rankGrid, parseRankGrid)}, "grid-ranks",
		"ranks along each cut of pencils (default near a square)")
	f.Var(program.OneOf("64|32", "64", func(s string) { o.single = s == "32" }, "64", "32"), "precision", "float64 or float32 throughout")
	f.Var(program.OneOf("c2c|r2c", "c2c", func(s string) { o.real = s == "r2c" }, "c2c", "r2c"), "kind", "complex bands, or real ones with half of the spectrum")
	f.Var(program.Whole(&o.repeat, "N", 10, 1, maxRepeat), "repeat", "measure so many times; medians are shown")
	f.Var(&program.Value{Text: "1", Kind: "K[,...]", Take: program.Into(&o.overlaps, parseOverlaps)}, "overlap",
		"bands that are exchanged while the next is transformed; 0 takes turns; several are measured in turn")
	f.Var(program.OneOf("direct|pairwise|bruck|auto", "auto", func(s string) { o.algorithm = strings.TrimPrefix(s, "auto") }, "direct", "pairwise", "bruck", "auto"),
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
	o := options{grids: []distfft.Grid{{NX: 64, NY: 64, NZ: 64}}, overlaps: []int{1}}
	f := flags(&o)
	if err := f.Parse(args); err != nil || o.help {
		return o, err
	}
	if f.Changed("grid-ranks") && !o.pencil {
		return o, errors.New("--grid-ranks is for pencils; add --decomposition pencil or leave it out")
	}
	return o, program.CheckRest(f, "json", "plot")
}

// parseGrids reads grids with commas between them.
func parseGrids(text string) ([]distfft.Grid, error) { return program.List(text, parseGrid) }

// parseOverlaps reads "0,4".
func parseOverlaps(text string) ([]int, error) {
	return program.List(text, func(s string) (int, error) { return program.ParseWhole(s, 0, maxOverlap) })
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
		var err error
		if n[i], err = program.ParseWhole(s, 1, maxSide); err != nil {
			return nil, err
		}
	}
	return n, nil
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
