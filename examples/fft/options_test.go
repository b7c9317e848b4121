package main

import (
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/fft/distfft"
	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	cube := func(n int) distfft.Grid { return distfft.Grid{NX: n, NY: n, NZ: n} }
	with := func(change func(*options)) options {
		o := options{grids: []distfft.Grid{cube(64)}, overlaps: []int{1}, bands: 4, repeat: 10, seed: 1}
		change(&o)
		return o
	}
	for _, tt := range []struct {
		args string
		want options
	}{
		{"", with(func(*options) {})},
		{"--grid 7x8x9", with(func(o *options) { o.grids = []distfft.Grid{{NX: 7, NY: 8, NZ: 9}} })},
		{"--grid 8x8x8,9x9x9 --overlap 0,2", with(func(o *options) { o.grids, o.overlaps = []distfft.Grid{cube(8), cube(9)}, []int{0, 2} })},
		{"--bands 3 --repeat=2 --seed 5", with(func(o *options) { o.bands, o.repeat, o.seed = 3, 2, 5 })},
		{"--decomposition pencil --grid-ranks 2x3", with(func(o *options) { o.pencil, o.rankGrid = true, [2]int{2, 3} })},
		{"--decomposition slab --precision 32 --kind r2c", with(func(o *options) { o.single, o.real = true, true })},
		{"--alltoall bruck --verify", with(func(o *options) { o.algorithm, o.verify = "bruck", true })},
		{"--alltoall auto", with(func(*options) {})},
		{"--json a --plot b", with(func(o *options) { o.json, o.plot = "a", "b" })},
		{"-h", with(func(o *options) { o.help = true })},
	} {
		t.Run(tt.args, func(t *testing.T) {
			got, err := parse(strings.Fields(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(options{})); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

// TestParseRejects states the sentence for each mistake on the command line.
func TestParseRejects(t *testing.T) {
	const badGrid = ` is no grid: expected NXxNYxNZ, three whole numbers from 1 to 1099511627776`
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--grid", "0x8x8"}, `invalid argument "0x8x8" for "--grid" flag: "0x8x8"` + badGrid},
		{[]string{"--grid", "8x8"}, `invalid argument "8x8" for "--grid" flag: "8x8"` + badGrid},
		{[]string{"--grid", "8x-8x8"}, `invalid argument "8x-8x8" for "--grid" flag: "8x-8x8"` + badGrid},
		{[]string{"--grid", "8x8x99999999999999999999"}, `invalid argument "8x8x99999999999999999999" for "--grid" flag: "8x8x99999999999999999999"` + badGrid},
		{[]string{"--grid", "8x8x8,"}, `invalid argument "8x8x8," for "--grid" flag: ""` + badGrid},
		{[]string{"--grid", "8x8x8,8x8x8"}, `invalid argument "8x8x8,8x8x8" for "--grid" flag: 8x8x8 is given twice`},
		{[]string{"--bands", "0"}, `invalid argument "0" for "--bands" flag: expected a whole number from 1 to 65536`},
		{[]string{"--overlap", "-1"}, `invalid argument "-1" for "--overlap" flag: expected a whole number from 0 to 64`},
		{[]string{"--repeat", "x"}, `invalid argument "x" for "--repeat" flag: expected a whole number from 1 to 100000`},
		{[]string{"--decomposition", "cube"}, `invalid argument "cube" for "--decomposition" flag: expected slab or pencil`},
		{[]string{"--precision", "16"}, `invalid argument "16" for "--precision" flag: expected 64 or 32`},
		{[]string{"--kind", "c2r"}, `invalid argument "c2r" for "--kind" flag: expected c2c or r2c`},
		{[]string{"--alltoall", "ring"}, `invalid argument "ring" for "--alltoall" flag: expected direct, pairwise, bruck or auto`},
		{[]string{"--grid-ranks", "2x2"}, `--grid-ranks is for pencils; add --decomposition pencil or leave it out`},
		{[]string{"--decomposition", "pencil", "--grid-ranks", "2"}, `invalid argument "2" for "--grid-ranks" flag: "2" is no grid of ranks: expected PxQ, two whole numbers from 1 to 1099511627776`},
		{[]string{"--json", ""}, `--json needs the name of a file; found an empty one`},
		{[]string{"--json", "x", "--plot", "./x"}, `--json and --plot both name x; give two files`},
		{[]string{"--frobnicate"}, `unknown flag: --frobnicate`},
		{[]string{"8x8x8"}, `unexpected argument "8x8x8"; everything is said with flags`},
	} {
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
	for _, name := range []string{"grid", "bands", "decomposition", "grid-ranks", "precision", "kind", "repeat", "overlap",
		"alltoall", "verify", "seed", "json", "plot"} {
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

func TestParseAvailable(t *testing.T) {
	got, err := parseAvailable("MemTotal:       24 kB\nMemFree:  9 kB\nMemAvailable:   16000000 kB\n")
	if err != nil || got != 16_000_000<<10 {
		t.Errorf("got %d, %v", got, err)
	}
	for _, bad := range []string{"", "MemTotal: 5 kB\n", "MemAvailable: much kB\n"} {
		if n, err := parseAvailable(bad); err == nil {
			t.Errorf("%q: got %d", bad, n)
		}
	}
}
