package choice

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// machine is a model with a network between all ranks.
func machine() price.Machine {
	return price.Machine{
		Call: 70e-9, Await: 4e-9, Step: 65e-9, Network: price.Link{Latency: 5e-6, Put: 1e-6, Signal: 1e-6},
		Bandwidth: 3e9, SocketRate: 8e9, ReduceRate: 24e9, CopyRate: 30e9, Memory: 25e9, CoreMemory: 14e9, Cache: 8 << 20,
	}
}

// call is a call of four ranks, each on a node of its own, that nothing is said of but its
// operation and length.
func call(op schedule.Operation, count int) *Signature {
	c := &Signature{Call: schedule.Call{Op: op, Size: 4, Count: count, Line: 8, Nodes: []int{0, 1, 2, 3}}, Element: 8}
	if op == schedule.Exchange {
		c.Rounds = 2
	}
	c.InPlace = op == schedule.Broadcast
	return c
}

// Goal: the variant of a call is that of a chooser which has seen no other call, whatever was
// chosen and explained before.
func TestChoiceIsOfTheCallAlone(t *testing.T) {
	used := &Chooser{Machine: machine()}
	for _, op := range schedule.Operations() {
		for _, count := range []int{0, 1, 7, 8, 9, 1000, 100_000, 1_000_001} {
			for _, root := range []int{0, 3} {
				for _, plain := range []bool{true, false} {
					c := call(op, count)
					if c.Plain = plain; op.Rooted() {
						c.Root = root
					}
					if c.Count > 0 { // as package collectives explains calls
						if _, err := used.Explain(c); err != nil {
							t.Fatalf("%v of %d: %v", op, count, err)
						}
					}
					got, err := used.Choose(c)
					if err != nil {
						t.Fatalf("%v of %d: %v", op, count, err)
					}
					want, err := (&Chooser{Machine: machine()}).Choose(c)
					if err != nil || got.String() != want.String() {
						t.Errorf("%v of %d, root %d, plain %v: chose %v after other calls, and %v alone: %v", op, count, root, plain, got, want, err)
					}
				}
			}
		}
	}
}

// Goal: the chosen variant is one of the candidates, and none takes less time by more than what
// counts as equal.
func TestChosenTakesLeast(t *testing.T) {
	for _, count := range []int{1, 1000, 1_000_000} {
		c := call(schedule.AllReduce, count)
		all, err := (&Chooser{Machine: machine()}).Explain(c)
		if err != nil {
			t.Fatal(err)
		}
		var chosen []Candidate
		for _, x := range all {
			if x.Chosen {
				chosen = append(chosen, x)
			}
		}
		if len(all) < 5 || len(chosen) != 1 {
			t.Fatalf("%d elements: %d of %d candidates are chosen", count, len(chosen), len(all))
		}
		for _, x := range all {
			if count == class(count) && chosen[0].Seconds > x.Seconds*aboutEqual {
				t.Errorf("%d elements: %v takes %v s and %v %v s", count, chosen[0].Variant, chosen[0].Seconds, x.Variant, x.Seconds)
			}
		}
	}
}

// Goal: where ranks share cores, the radix with fewer rounds is chosen of two that take about as long, and where each has
// a core the quicker one.
// Method: broadcasts over sockets, whose root sends to all by the default radix, and to two of three by radix 2.
func TestFewerRoundsWhereRanksShareCores(t *testing.T) {
	for _, cores := range []int{2, 4} {
		sharing, differ := settings()[2], 0
		sharing.machine.Cores = cores
		for bytes := 8; bytes <= 128<<10; bytes *= 2 {
			ch, c := sharing.call(schedule.Broadcast, 4, bytes, false)
			all := ch.Candidates(&c, Settings{Algorithm: "eager"})
			deep := all[0]
			deep.Radix = 2
			all = append(all, deep)
			prices, err := ch.prices(all, &c)
			if err != nil || prices[0].rounds >= prices[1].rounds {
				t.Fatalf("%v: %v %+v", err, all, prices)
			}
			got, err := ch.quickest(all, &c)
			if err != nil {
				t.Fatal(err)
			}
			one, two := prices[0].seconds, prices[1].seconds
			want := 0
			if one > two*aboutEqual && (cores == 4 || one > two*fewerRounds) {
				want = 2
			}
			if got.Radix != want {
				t.Errorf("%d bytes, %d cores: chose radix %d, want %d: %.3g and %.3g s", bytes, cores, got.Radix, want, one, two)
			}
			if one > two*aboutEqual {
				differ++
			}
		}
		if differ == 0 {
			t.Errorf("%d cores: one round is always as quick", cores)
		}
	}
}

// Goal: options go before what is forced, and what is forced before the model.
func TestForced(t *testing.T) {
	forced, err := ParseForced("allreduce:ring/1000x2, alltoall:pairwise")
	if err != nil {
		t.Fatal(err)
	}
	ch := &Chooser{Machine: machine(), Forced: forced}
	for _, c := range []struct {
		name    string
		options Settings
		want    string
	}{
		{"nothing", Settings{}, "ring/1000x2"},
		{"a concurrency", Settings{Concurrency: 3}, "ringx3"},
		{"another algorithm", Settings{Algorithm: "halving", SegmentSize: 500}, "halving/500"},
	} {
		x := call(schedule.AllReduce, 100_000)
		x.Options = c.options
		v, err := ch.Choose(x)
		if err != nil || v.String() != c.want {
			t.Errorf("options say %s: chose %v, want %s: %v", c.name, v, c.want, err)
		}
	}
	for _, text := range []string{"ring", "nothing:ring", "allreduce:nothing", "allreduce:ring/0"} {
		if _, err := ParseForced(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

// Goal: the name of a variant says its parameters.
func TestParseReadsNames(t *testing.T) {
	ring, err := algorithms.Lookup(schedule.AllReduce, "ring")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		variant Variant
		name    string
		want    Settings
	}{
		{Variant{}, "ring", Settings{}},
		{Variant{Segments: schedule.Segmentation{Concurrency: 1}}, "ringx1", Settings{Concurrency: 1}},
		{Variant{Segments: schedule.Segmentation{Size: 4096}}, "ring/4096", Settings{SegmentSize: 4096}},
		{Variant{Segments: schedule.Segmentation{Size: 4096, Concurrency: 4}}, "ring/4096x4", Settings{SegmentSize: 4096, Concurrency: 4}},
		{Variant{Radix: 3, staging: stageAll}, "ring radix 3 staged", Settings{Radix: 3}},
	} {
		c.variant.Algorithm, c.want.Algorithm = ring, "ring"
		if got := c.variant.String(); got != c.name {
			t.Errorf("%s has the name %s", c.name, got)
		}
		got, err := Parse(c.name)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b Settings) bool { return a == b })); diff != "" {
			t.Errorf("%s is read as other options (-want +got):\n%s", c.name, diff)
		}
	}
}

// Goal: keys are equal for calls that match, and differ in each field that must match.
func TestKey(t *testing.T) {
	base := func() *Signature {
		c := call(schedule.AllToAll, 10)
		c.Counts = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
		return c
	}
	if base().Key() != base().Key() {
		t.Error("two calls that are alike have different keys")
	}
	for name, change := range map[string]func(*Signature){
		"operation":       func(c *Signature) { c.Op = schedule.AllGather },
		"root":            func(c *Signature) { c.Root = 1 },
		"count":           func(c *Signature) { c.Count = 11 },
		"a block":         func(c *Signature) { c.Counts[7]++ },
		"no blocks":       func(c *Signature) { c.Counts = nil },
		"rounds":          func(c *Signature) { c.Rounds = 1 },
		"in place":        func(c *Signature) { c.InPlace = true },
		"element":         func(c *Signature) { c.Element = 4 },
		"further vectors": func(c *Signature) { c.Extra = 1 },
		"order":           func(c *Signature) { c.Ordered = true },
		"plain":           func(c *Signature) { c.Plain = true },
		"options":         func(c *Signature) { c.Options.Radix = 2 },
	} {
		c := base()
		if change(c); c.Key() == base().Key() {
			t.Errorf("calls that differ in their %s have the same key", name)
		}
	}
}

// Goal: each call with blocks of different lengths has a quickest variant, and none is said to take
// less than no time, however few of the blocks are long and however they are cut.
func TestChooseForUnequalBlocks(t *testing.T) {
	slow := machine() // an emulated network
	slow.Network, slow.Bandwidth, slow.SocketRate = price.Link{Latency: 60e-6}, 1e9, 0
	draw := rand.New(rand.NewPCG(1, 7))
	lengths := []int{0, 1, 3, 5, 3728, 16385, 117_035, 158_033}
	for _, op := range []schedule.Operation{schedule.Gather, schedule.Scatter, schedule.AllGather, schedule.ReduceScatter} {
		for range 60 {
			c := call(op, 0)
			c.Size = 2 + draw.IntN(3)
			c.Nodes, c.Plain, c.Element, c.Line = c.Nodes[:c.Size], draw.IntN(2) == 0, 4, 4
			for range c.Size {
				c.Counts = append(c.Counts, lengths[draw.IntN(len(lengths))])
			}
			if op.Rooted() {
				c.Root = draw.IntN(c.Size)
			}
			c.Options.SegmentSize = []int{0, 4096, 8192}[draw.IntN(3)]
			c.Options.Concurrency = []int{0, 1, 2, 5}[draw.IntN(4)]
			for _, m := range []price.Machine{machine(), slow} {
				ch := &Chooser{Machine: m}
				if _, err := ch.Choose(c); err != nil {
					t.Fatalf("%v of %v, root %d, by %+v: %v", op, c.Counts, c.Root, c.Options, err)
				}
				for _, v := range ch.Candidates(c, c.Options) {
					if seconds, err := ch.predict(c, topologyOf(t, ch, c), v); err != nil || !(seconds >= 0) {
						t.Errorf("%v of %v, root %d: %v takes %g seconds (%v)", op, c.Counts, c.Root, v, seconds, err)
					}
				}
			}
		}
	}
}
