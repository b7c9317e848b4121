package choice

import (
	"math"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// Goal: what is chosen takes little memory of a rank at any number of ranks, though another variant may be
// quicker.
// Method: the schedule of the first rank of each host's size, whose scratch all ranks claim alike.
func TestChoicesAreLight(t *testing.T) {
	for _, ranks := range []int{8, 64, 256, 1024} {
		for _, onHost := range []int{1, 16, 1024} {
			for _, op := range estimated() {
				for _, bytes := range []int{8, 128 << 10} {
					ch, c := manyRanks(ranks, onHost, 2, op, bytes)
					c.Plain = true
					if op == schedule.AllToAll || op == schedule.AllGather {
						c.Count = max(1, c.Count/ranks)
					}
					v, err := ch.Choose(c)
					if err != nil {
						t.Fatal(err)
					}
					in, out := mostElements(&c.Call)
					most := max(leastRoom, roomPerVector*8*int(max(in, out)))
					if got := memoryOf(&c.Call, v, ch.OneNode); got > most {
						t.Errorf("%v of %d bytes, %d ranks, %d on a host: %v takes %d bytes of memory, want %d at most", op, bytes, ranks, onHost, v, got, most)
					}
				}
			}
		}
	}
}

// memoryOf is the bytes that a rank claims for a call on elements of 8 bytes.
func memoryOf(c *schedule.Call, v Variant, shared bool) int {
	with := *c
	with.Radix = v.Radix
	s := schedule.Build(&with, 0, v.Emitter())
	depth := schedule.DepthOf(s.EagerSlots, 8*s.Eager, schedule.EagerSlots, schedule.EagerBytes(shared))
	return 8 * (s.Scratch + 2*s.Flip + depth.Copies*s.Eager)
}

// Goal: options are followed, however much memory they take.
func TestForcedMayBeHeavy(t *testing.T) {
	ch, c := manyRanks(64, 64, 2, schedule.AllReduce, 128<<10)
	c.Options.Algorithm = "leaders"
	v, err := ch.Choose(c)
	if err != nil || v.Algorithm.Name != "leaders" {
		t.Errorf("chose %v: %v", v, err)
	}
	named := func(a algorithms.Algorithm) bool { return a.Name == "leaders" }
	if !slices.ContainsFunc(algorithms.For(schedule.AllReduce), named) || memoryOf(&c.Call, v, true) <= leastRoom {
		t.Error("leaders is not heavy; take another algorithm")
	}
}

// Goal: a variant that takes more memory than it may is chosen if no other one can be.
// Method: those whose simulations fail, beside one that is heavy, whose formula says that it takes longer.
func TestHeavyIfNoOtherCanBe(t *testing.T) {
	ch, c := manyRanks(2, 1, 2, schedule.AllReduce, 64)
	variant := func(name string, scratch, messages float64, emit schedule.Emitter) Variant {
		return Variant{Algorithm: algorithms.Algorithm{Op: c.Op, Name: name, Emit: emit, Formula: func(at *price.Topology, _ *schedule.Call) price.Profile {
			return price.Profile{Scratch: scratch, Stages: []price.Stage{{Route: at.Everybody(), Peers: 1, Times: messages}}}
		}}}
	}
	stuck := func(b *schedule.Builder, _ *schedule.Call) { b.Await(b.Slots(1)) } // for a post that nobody makes
	can := func(*schedule.Builder, *schedule.Call) {}
	all := []Variant{variant("light", 1, 1, stuck), variant("lighter", 0, 2, stuck), variant("heavy", leastRoom, 3, can)}
	got, err := ch.quickest(all, c)
	if err != nil || got.Algorithm.Name != "heavy" {
		t.Errorf("chose %v: %v", got, err)
	}
}

// Goal: simulations for a choice take a bounded number of steps, and one that would take too many leaves the steps to
// variants that may be quicker and take fewer.
// Method: the steps of all variants that were simulated, for calls of 2 to 64 ranks in all settings.
func TestSimulationsAreBounded(t *testing.T) {
	simulated, passed := 0, 0
	for _, s := range settings() {
		for _, op := range estimated() {
			for _, ranks := range []int{2, 5, 12, 19, 24, 64} {
				ch, c := s.call(op, ranks, 4<<10, false)
				all := ch.Candidates(&c, Settings{})
				costs, err := ch.prices(all, &c)
				if err != nil {
					t.Fatal(err)
				}
				at, steps, few, most := topologyOf(t, ch, &c), 0.0, math.Inf(1), 0.0
				for i, v := range all {
					switch by := ch.estimate(&c, at, v); {
					case costs[i].simulated:
						simulated, steps, most = simulated+1, steps+runs*by.steps, max(most, by.seconds)
					case !costs[i].heavy:
						few = min(few, by.seconds)
					}
				}
				if steps > refinedSteps {
					t.Errorf("%s: %v, %d ranks: simulations of %.0f steps, want %d at most", s.name, op, ranks, steps, refinedSteps)
				}
				if few < most {
					passed++
				}
			}
		}
	}
	if simulated == 0 || passed == 0 {
		t.Errorf("%d simulations, and %d calls in which a quicker variant took too many steps; want some of both", simulated, passed)
	}
	t.Logf("%d simulations, %d calls in which a variant that is quicker by its formula took too many steps", simulated, passed)
}
