package sim

import (
	"flag"
	"testing"
)

var (
	seeds = flag.Uint64("seeds", 2000, "explore so many seeds")
	seed  = flag.Uint64("seed", 0, "explore this seed alone, and print its steps")
)

func TestExplore(t *testing.T) {
	if *seed != 0 {
		_, err := Explore(Options{Seed: *seed, Trace: func(s string) { t.Log(s) }})
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	var sum Report
	for s := range *seeds {
		r, err := Explore(Options{Seed: s + 1})
		if err != nil {
			t.Fatal(err)
		}
		sum.Steps += r.Steps
		sum.Calls += r.Calls
		sum.Deaths += r.Deaths
		sum.Lost += r.Lost
		sum.Full += r.Full
	}
	t.Logf("%d seeds: %+v", *seeds, sum)
}
