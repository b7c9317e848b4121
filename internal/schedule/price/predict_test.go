package price

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// TestPredictManyRanks compares the curve that Predict follows for many ranks with
// the simulation of all of them. Latency and chunk make all times exact.
func TestPredictManyRanks(t *testing.T) {
	m := Machine{Network: Link{Latency: 1, Put: 0.25}, Await: 0.25, Bandwidth: 1 << 10, ReduceRate: 1 << 10}
	for _, p := range []int{32, 64, 128, 512} {
		c := &schedule.Call{Op: schedule.AllReduce, Size: p, Count: 1 << 16, Line: 1}
		got, err := Predict(&m, c, rings, Load{})
		if err != nil {
			t.Fatal(err)
		}
		// Each round has a put, latency, transfer and await; half of them fold.
		chunk := float64(c.Count) / float64(p) / (1 << 10)
		want := float64(p-1) * (2*(1.5+chunk) + chunk)
		if got != want {
			t.Errorf("%d ranks: %v s predicted, want %v", p, got, want)
		}
	}
}

// TestPredictUneven checks that an algorithm whose steps follow no curve is
// simulated in full: here, that of odd numbers of ranks is another one.
func TestPredictUneven(t *testing.T) {
	uneven := func(b *schedule.Builder, c *schedule.Call) {
		rings(b, c)
		if c.Size%2 == 1 {
			rings(b, c)
		}
	}
	m := Machine{Network: Link{Latency: 1}}
	for _, p := range []int{98, 99} {
		c := &schedule.Call{Op: schedule.AllReduce, Size: p, Count: 1000, Line: 1}
		got, err := Predict(&m, c, uneven, Load{})
		if err != nil {
			t.Fatal(err)
		}
		if want := float64(2 * (p - 1) * (1 + p%2)); got != want {
			t.Errorf("%d ranks: %v s, want %v", p, got, want)
		}
	}
}

// TestPredictFullNode checks that ranks that share one memory are all simulated: each
// of them copies as often as there are ranks, and the memory serves all.
func TestPredictFullNode(t *testing.T) {
	copies := func(b *schedule.Builder, c *schedule.Call) {
		from, to := b.Scratch(16), b.Scratch(16)
		for range c.Size {
			b.Copy(to.At(b.Rank(), 0, 16), from.At(b.Rank(), 0, 16))
		}
	}
	const p = 200
	c := &schedule.Call{Op: schedule.Barrier, Size: p, Line: 1}
	for _, test := range []struct {
		name  string
		m     Machine
		nodes []int
		want  float64
	}{
		{"one node", Machine{RanksPerNode: p, Memory: 32}, nil, p * p},
		{"the call says so", Machine{Memory: 32}, make([]int, p), p * p},
		{"a node each", Machine{Memory: 32}, nil, p},
	} {
		c.Nodes = test.nodes
		got, err := Predict(&test.m, c, copies, Load{})
		if err != nil {
			t.Fatal(err)
		}
		if got != test.want {
			t.Errorf("%s: %v s, want %v", test.name, got, test.want)
		}
	}
}

// TestFirstRanks checks that a call is cut to its first ranks in all its parts.
func TestFirstRanks(t *testing.T) {
	counts := make([]int, 9)
	for i := range counts {
		counts[i] = i
	}
	for _, test := range []struct {
		name      string
		call      schedule.Call
		want      schedule.Call
		load, cut Load
	}{{
		name: "alltoall",
		call: schedule.Call{Op: schedule.AllToAll, Size: 3, Counts: counts, Nodes: []int{0, 0, 1}},
		want: schedule.Call{Op: schedule.AllToAll, Size: 2, Counts: []int{0, 1, 3, 4}, Nodes: []int{0, 0}},
		load: Load{Arrival: []float64{1, 2, 3}, Slowdown: []float64{4, 5, 6}},
		cut:  Load{Arrival: []float64{1, 2}, Slowdown: []float64{4, 5}},
	}, {
		name: "gather",
		call: schedule.Call{Op: schedule.Gather, Size: 3, Counts: counts[:3], Root: 2},
		want: schedule.Call{Op: schedule.Gather, Size: 2, Counts: []int{0, 1}, Root: 0},
	}, {
		name: "the root stays engaged",
		call: schedule.Call{Op: schedule.Reduce, Size: 3, Engaged: []bool{false, false, true}, Root: 2},
		want: schedule.Call{Op: schedule.Reduce, Size: 2, Engaged: []bool{true, false}, Root: 0},
	}} {
		t.Run(test.name, func(t *testing.T) {
			if d := cmp.Diff(&test.want, firstRanks(&test.call, 2)); d != "" {
				t.Errorf("call (-want +got):\n%s", d)
			}
			if d := cmp.Diff(test.cut, firstLoad(test.load, 2)); d != "" {
				t.Errorf("load (-want +got):\n%s", d)
			}
		})
	}
}

// TestPredictManySegments compares what Predict says of many segments of fixed size
// with the simulation of all of them, and checks that it is quick to say so of
// more than could be simulated.
func TestPredictManySegments(t *testing.T) {
	m := Machine{
		Network: Link{Latency: 1, Put: 0.25}, Await: 0.25, Bandwidth: 16, ReduceRate: 16,
		CopyRate: 32, Memory: 32, Cache: 5000,
	}
	for _, how := range []schedule.Segmentation{{Size: 16}, {Size: 16, Concurrency: 2}, {Size: 16, Concurrency: 5}} {
		for _, count := range []int{16 * 10, 16 * 60, 16 * 200} { // in the cache and not; whole turns
			c := &schedule.Call{Op: schedule.AllReduce, Size: 4, Count: count, Line: 1}
			got, err := PredictSegments(&m, c, how, rings, Load{Runs: 2})
			if err != nil {
				t.Fatal(err)
			}
			emit := schedule.Pipeline(how, rings)
			res, err := Run(&m, c, func(r int) *schedule.Schedule { return schedule.Build(c, r, emit) }, Load{Runs: 2})
			if err != nil {
				t.Fatal(err)
			}
			if got != res.Makespan {
				t.Errorf("%+v of %d: %v s predicted, %v simulated", how, count, got, res.Makespan)
			}
		}
		c := &schedule.Call{Op: schedule.AllReduce, Size: 4, Count: 1 << 40, Line: 1}
		if _, err := PredictSegments(&m, c, how, rings, Load{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPredictFullHost checks that ranks of one host that meet in sockets are all simulated: they share its cores.
func TestPredictFullHost(t *testing.T) {
	m := Machine{Network: Link{Signal: 1}, Cores: 1}
	all := func(b *schedule.Builder, c *schedule.Call) {
		to := b.Slots(1)
		for range c.Size {
			b.Signal((b.Rank()+1)%c.Size, to)
		}
	}
	const p = 200
	c := &schedule.Call{Op: schedule.Barrier, Size: p, Line: 1, Nodes: make([]int, p)}
	for r := range c.Nodes {
		c.Nodes[r] = r
	}
	got, err := Predict(&m, c, all, Load{Hosts: make([]int, p)})
	if err != nil || got != p*p {
		t.Errorf("%v s, want %v: %v", got, p*p, err)
	}
}
