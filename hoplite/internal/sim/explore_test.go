package sim

import (
	"flag"
	"testing"
)

var (
	first     = flag.Uint64("first", 1, "explore from this seed on")
	seeds     = flag.Uint64("seeds", 2000, "explore so many seeds")
	histories = flag.Uint64("histories", 400, "check the histories of so many seeds")
	seed      = flag.Uint64("seed", 0, "explore this seed alone, and print its steps")
)

func TestExplore(t *testing.T) {
	if *seed != 0 {
		_, err := Explore(ExplorationOptions{Seed: *seed, Trace: func(s string) { t.Log(s) }})
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	var sum Exploration
	failures := 0
	for s := *first; s < *first+*seeds; s++ {
		r, err := Explore(ExplorationOptions{Seed: s})
		if err != nil {
			t.Error(err)
			if failures++; failures == 10 {
				t.FailNow()
			}
		}
		sum.Steps += r.Steps
		sum.Calls += r.Calls
		sum.Deaths += r.Deaths
		sum.Lost += r.Lost
		sum.Full += r.Full
	}
	t.Logf("seeds %d to %d: %+v", *first, *first+*seeds-1, sum)
}
