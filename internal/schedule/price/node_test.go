package price

import (
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// TestSharedNode compares times where ranks share memory, its bandwidth, ports
// or cores with what they must be.
func TestSharedNode(t *testing.T) {
	pair := Machine{
		RanksPerNode: 2, Bandwidth: 8, CopyRate: 32,
		Network: Link{Latency: 16, Put: 0.25}, Shared: Link{Latency: 1, Put: 0.5, Signal: 0.125},
	}
	sockets := Machine{SocketRate: 8, ReduceRate: 8, Memory: 4, Near: 100}
	vector := fold(1, 8)
	vector.Src[0].Buf, vector.Dst[0].Buf = schedule.In, schedule.Out
	// Every rank works for 4 s and then for 2 s, between which it waits for its peer.
	meet := func(me int) lanes {
		return one(clone(me, 4), signal(1-me, 0), await(0, 1), clone(me, 2))
	}
	for _, test := range []struct {
		name    string
		machine Machine
		load    Load
		nodes   []int
		cached  int
		ranks   []lanes
		finish  []float64
	}{{
		// 1/2 + 32/32 of copying, latency 1; then one more byte across nodes.
		name: "a put within a node is a copy", machine: pair,
		ranks:  []lanes{one(put(1, 32, 0)), one(await(0, 1), put(2, 8, 0)), one(await(0, 1)), none()},
		finish: []float64{1.5, 2.5 + 0.25 + 1, 2.5 + 0.25 + 16 + 1, 0},
	}, {
		name: "a put within a node reads and writes", machine: Machine{RanksPerNode: 2, CopyRate: 8, Memory: 8},
		ranks:  []lanes{one(put(1, 8, 0)), one(await(0, 1))},
		finish: []float64{2, 2},
	}, {
		// Rank 2's signal, foreseen from 0, is there at 10; rank 1's, sent at 2, at 3.
		name: "woken before it expects to be", machine: Machine{RanksPerNode: 2, CopyRate: 1, Network: Link{Latency: 10}, Shared: Link{Latency: 1}},
		ranks:  []lanes{{{await(0, 1), clone(0, 1)}, {await(1, 1), clone(0, 4)}}, one(clone(1, 2), signal(0, 1)), one(signal(0, 0))},
		finish: []float64{11, 2, 0},
	}, {
		name: "busy when it expected to wake", machine: Machine{RanksPerNode: 2, CopyRate: 1, Network: Link{Latency: 10}, Shared: Link{Latency: 1}},
		ranks:  []lanes{{{await(0, 1), clone(0, 1)}, {await(1, 1), clone(0, 9)}}, one(clone(1, 2), signal(0, 1)), one(signal(0, 0))},
		finish: []float64{13, 2, 0},
	}, {
		name: "woken for the first of two", machine: Machine{RanksPerNode: 2, CopyRate: 1, Network: Link{Latency: 10}, Shared: Link{Latency: 1}},
		ranks:  []lanes{{{await(1, 1), clone(0, 4)}, {await(0, 1), clone(0, 1)}}, one(signal(0, 1)), one(signal(0, 0))},
		load:   Load{Arrival: []float64{0.5, 0, 0}},
		finish: []float64{11, 0, 0},
	}, {
		name: "a signal within a node", machine: pair,
		ranks:  []lanes{one(signal(1, 0)), one(await(0, 1)), none(), none()},
		finish: []float64{0.125, 1.125, 0, 0},
	}, {
		name: "the call says who shares a node", machine: pair, nodes: []int{3, 1, 3},
		ranks:  []lanes{one(signal(2, 0)), none(), one(await(0, 1))},
		finish: []float64{0.125, 0, 1.125},
	}, {
		name: "ranks of a node share its port", machine: Machine{RanksPerNode: 2, Bandwidth: 8, Network: Link{Latency: 1}},
		ranks:  []lanes{one(put(2, 8, 0)), one(put(3, 8, 0)), one(await(0, 1)), one(await(0, 1))},
		finish: []float64{1, 2, 2, 3},
	}, {
		name: "a node of two ports", machine: Machine{RanksPerNode: 2, Bandwidth: 8, Ports: 2, Network: Link{Latency: 1}},
		ranks:  []lanes{one(put(2, 8, 0)), one(put(3, 8, 0)), one(await(0, 1)), one(await(0, 1))},
		finish: []float64{1, 1, 2, 2},
	}, {
		// Each copies 8 bytes in 1 s and moves 16, of which the memory takes 8 a second.
		name: "memory bandwidth", machine: Machine{RanksPerNode: 2, CopyRate: 8, Memory: 8},
		ranks:  []lanes{one(clone(0, 8)), one(clone(1, 8)), one(clone(2, 8))},
		finish: []float64{2, 4, 2},
	}, {
		name: "memory faster than the ranks", machine: Machine{RanksPerNode: 2, CopyRate: 8, Memory: 64},
		ranks:  []lanes{one(clone(0, 8)), one(clone(1, 8))},
		finish: []float64{1, 1},
	}, {
		name: "a core alone does not get all of it", machine: Machine{RanksPerNode: 2, CopyRate: 8, Memory: 64, CoreMemory: 4},
		ranks:  []lanes{one(clone(0, 8)), one(clone(1, 16))},
		finish: []float64{4, 8},
	}, {
		name: "memory is spared by a cache", machine: Machine{RanksPerNode: 2, CopyRate: 8, Memory: 8, Cache: 40}, cached: 20,
		ranks:  []lanes{one(clone(0, 8)), one(clone(1, 8))},
		finish: []float64{1, 1},
	}, {
		name: "a cache too small", machine: Machine{RanksPerNode: 2, CopyRate: 8, Memory: 8, Cache: 39}, cached: 20,
		ranks:  []lanes{one(clone(0, 8)), one(clone(1, 8))},
		finish: []float64{2, 4},
	}, {
		name: "a cache too small for longer elements", machine: Machine{RanksPerNode: 2, CopyRate: 16, Memory: 16, Cache: 79}, cached: 20,
		load:   Load{Element: 2},
		ranks:  []lanes{one(clone(0, 8)), one(clone(1, 8))},
		finish: []float64{2, 4},
	}, {
		// Rank 0 has all in scratch, rank 1 an operand and the result in vectors.
		name: "scratch of what came through sockets is near", machine: sockets.At(100, 1),
		ranks:  []lanes{one(fold(0, 8)), one(vector)},
		finish: []float64{1, 4},
	}, {
		name: "scratch of much that came through sockets", machine: sockets.At(101, 1),
		ranks:  []lanes{one(fold(0, 8)), one(vector)},
		finish: []float64{6, 6},
	}, {
		name: "scratch of what came from the same node", machine: sockets.At(100, 1), nodes: []int{0, 0},
		ranks:  []lanes{one(fold(0, 8)), none()},
		finish: []float64{6, 0},
	}, {
		name: "a fold reads two and writes one", machine: Machine{ReduceRate: 8, Memory: 4},
		ranks:  []lanes{one(fold(0, 8))},
		finish: []float64{6},
	}, {
		name: "a core each", machine: Machine{RanksPerNode: 2, Cores: 2, CopyRate: 1, Switch: 8},
		ranks:  []lanes{meet(0), meet(1)},
		finish: []float64{6, 6},
	}, {
		// 0 works to 4 and waits; 1 gets the core at 4, works to 8, sees 0's signal and
		// goes on to 10; 0 gets it back for its last 2 s.
		name: "two ranks on one core", machine: Machine{RanksPerNode: 2, Cores: 1, CopyRate: 1},
		ranks:  []lanes{meet(0), meet(1)},
		finish: []float64{12, 10},
	}, {
		// Each of the two handovers takes 1/2.
		name: "handing over costs", machine: Machine{RanksPerNode: 2, Cores: 1, CopyRate: 1, Switch: 0.5},
		ranks:  []lanes{meet(0), meet(1)},
		finish: []float64{13, 10.5},
	}, {
		name: "no handover to oneself", machine: Machine{RanksPerNode: 2, Cores: 1, CopyRate: 1, Switch: 8, Bandwidth: 4},
		ranks:  []lanes{one(put(2, 8, 0), flush(), clone(0, 1)), none(), one(await(0, 1))},
		load:   Load{Arrival: []float64{0, 100, 0}},
		finish: []float64{3, 108, 2},
	}, {
		// 0 and 1 had a core each; 1 takes its own again.
		name: "the core that it had", machine: Machine{RanksPerNode: 3, Cores: 2, CopyRate: 1, Switch: 8, Network: Link{Latency: 10}},
		ranks:  []lanes{one(clone(0, 1)), one(await(0, 1), clone(1, 1)), none(), one(signal(1, 0))},
		load:   Load{Arrival: []float64{0, 0, 100, 0}},
		finish: []float64{1, 11, 108, 0},
	}, {
		name: "the core that nobody had", machine: Machine{RanksPerNode: 3, Cores: 2, CopyRate: 1, Switch: 8},
		ranks:  []lanes{one(clone(0, 1)), one(clone(1, 1)), none()},
		load:   Load{Arrival: []float64{0, 5, 100}},
		finish: []float64{1, 6, 108},
	}, {
		name: "three ranks on two cores", machine: Machine{RanksPerNode: 3, Cores: 2, CopyRate: 1, Switch: 0.25},
		ranks:  []lanes{one(clone(0, 4)), one(clone(1, 2)), one(clone(2, 2))},
		finish: []float64{4, 2, 4.25},
	}} {
		t.Run(test.name, func(t *testing.T) {
			c, build := written(test.ranks...)
			c.Nodes = test.nodes
			memory := func(r int) *schedule.Schedule {
				s := build(r)
				s.Scratch = test.cached
				return s
			}
			res, err := Run(&test.machine, c, memory, test.load)
			if err != nil {
				t.Fatal(err)
			}
			checkFinish(t, res, test.finish)
		})
	}
}

// TestRefuses checks that what cannot be is an error that says so.
func TestRefuses(t *testing.T) {
	peek := combine(0, 1, 2, 1)
	peek.Src[1].Rank = 1
	idle := []lanes{none(), none()}
	for _, test := range []struct {
		name    string
		machine Machine
		load    Load
		ranks   []lanes
		want    string
	}{
		{
			name:  "nobody posts",
			ranks: []lanes{one(signal(1, 3)), {{await(3, 1)}, {clone(1, 4), await(5, 1)}}},
			want:  "rank 1 lane 1 step 1 awaits post 1 of slot 5 in run 1",
		}, {
			name: "too few posts", load: Load{Runs: 2},
			ranks: []lanes{one(signal(1, 3)), one(await(3, 2))},
			want:  "rank 1 lane 0 step 0 awaits post 2 of slot 3 in run 2",
		}, {
			name:  "a circle",
			ranks: []lanes{one(await(0, 1), signal(1, 0)), one(await(0, 1), signal(0, 0))},
			want:  "rank 0 lane 0 step 0 awaits",
		},
		{name: "memory of another node", ranks: []lanes{one(clone(0, 1), peek), none()}, want: "rank 0 lane 0 step 1 combines from or to memory of rank 1"},
		{name: "no such peer", ranks: []lanes{one(signal(2, 0)), none()}, want: "rank 0 lane 0 step 0 (signal rank 2, post 0): there is no rank 2"},
		{name: "no such slot", ranks: []lanes{one(signal(1, 16)), none()}, want: "there is no slot 16"},
		{name: "negative cost", machine: Machine{Network: Link{Put: -1}}, ranks: idle, want: "network.put of a machine is -1"},
		{name: "no number", machine: Machine{Call: never - never}, ranks: idle, want: "call of a machine is NaN"},
		{name: "negative runs", load: Load{Runs: -1}, ranks: idle, want: "-1 runs"},
		{name: "arrivals of others", load: Load{Arrival: []float64{0}}, ranks: idle, want: "1 arrivals"},
		{name: "arrival at no time", load: Load{Arrival: []float64{0, never}}, ranks: idle, want: "rank 1 has arrival or slowdown +Inf"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, build := written(test.ranks...)
			_, err := Run(&test.machine, c, build, test.load)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
		})
	}
}
