package choice

import (
	"math"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// A setting is a machine and where ranks are on it.
type setting struct {
	name    string
	machine price.Machine
	node    func(rank int) int
	oneHost bool // though nodes differ
}

// settings are shared memory with a core for each rank and with two for all, sockets on one host,
// hosts of one rank, of four and of different numbers, and a slow network.
func settings() []setting {
	shared := machine()
	shared.Shared = price.Link{Latency: 105e-9, Put: 55e-9, Signal: 60e-9}
	shared.Cores, shared.Switch, shared.SocketFar, shared.Near = 1024, 1.2e-6, 4.5e9, 1<<20
	two := shared
	two.Cores = 2
	sockets := two
	OnOneHost(&sockets)
	OnSockets(&sockets, sockets.Cores+1)
	slow := shared
	slow.Network, slow.Bandwidth, slow.SocketRate = price.Link{Latency: 60e-6}, 1e9, 0
	one, own := func(int) int { return 0 }, func(r int) int { return r }
	ends := []int{5, 8, 16, 17, 23, 25, 32, 37, 40, 48, 49, 55, 57, 64} // of hosts
	uneven := func(r int) int {                                         // again and again
		return r/64*len(ends) + slices.IndexFunc(ends, func(end int) bool { return r%64 < end })
	}
	return []setting{
		{"shared memory", shared, one, false},
		{"two cores", two, one, false},
		{"sockets", sockets, own, true},
		{"a host each", shared, own, false},
		{"four on a host", shared, func(r int) int { return r / 4 * 4 }, false},
		{"hosts of many sizes", shared, uneven, false},
		{"a slow network", slow, own, false},
	}
}

// call is a call of so many ranks there.
func (s *setting) call(op schedule.Operation, ranks, bytes int, plain bool) (*Chooser, Signature) {
	c := Signature{Call: schedule.Call{Op: op, Size: ranks, Count: bytes / 8, Line: 8, Nodes: make([]int, ranks)}, Element: 8, Plain: plain}
	ch := &Chooser{Machine: s.machine, OneNode: true}
	for r := range c.Nodes {
		c.Nodes[r] = s.node(r)
		ch.OneNode = ch.OneNode && c.Nodes[r] == 0
	}
	if ch.OneNode {
		Crowd(&ch.Machine, ranks) // as in a team
	}
	if s.oneHost {
		ch.Hosts = make([]int, ranks)
	}
	c.InPlace = op == schedule.Broadcast || op == schedule.AllReduce
	if op == schedule.Exchange {
		c.Rounds = 2
	}
	return ch, c.typical()
}

// estimated are the operations whose formulas are compared with simulations.
func estimated() []schedule.Operation {
	return append(slices.Clone(scaleOps), schedule.Gather, schedule.Scatter, schedule.Scan)
}

// mostOff is how many times a formula may say of a simulation, and the other way round.
const mostOff = 3.5

// Goal: formulas say what a simulation of all ranks says.
// Method: all candidates of calls in all settings, of few and of more ranks, no powers of two among
// them. Of all candidates half are within 2 % and nine in ten within 19 %; none is off by
// more than three and a half times. Segments get in each other's way more than formulas know.
func TestEstimates(t *testing.T) {
	var off []float64 // logarithms
	for _, s := range settings() {
		for _, op := range estimated() {
			for _, ranks := range []int{2, 6, 8, 13} {
				for _, bytes := range []int{8, 8 << 10, 128 << 10} {
					for _, plain := range []bool{false, true} {
						ch, c := s.call(op, ranks, bytes, plain)
						at := topologyOf(t, ch, &c)
						for _, v := range ch.Candidates(&c, Settings{}) {
							want, err := ch.predict(&c, at, v)
							if err != nil {
								t.Fatal(err)
							}
							got := ch.estimate(&c, at, v).seconds
							ratio := math.Abs(math.Log(got / want))
							if off = append(off, ratio); !(ratio <= math.Log(mostOff)) {
								t.Errorf("%s: %v of %d bytes by %v, %d ranks: %.3g s by its formula, %.3g s by simulation", s.name, op, bytes, v, ranks, got, want)
							}
						}
					}
				}
			}
		}
	}
	slices.Sort(off)
	half, most := math.Exp(off[len(off)/2])-1, math.Exp(off[len(off)*9/10])-1
	t.Logf("%d candidates: half are within %.1f %%, nine in ten within %.1f %%, all within %.0f %%", len(off), 100*half, 100*most, 100*(math.Exp(off[len(off)-1])-1))
	if half > 0.02 || most > 0.19 {
		t.Errorf("half of %d candidates are within %.1f %% and nine in ten within %.1f %%, want 2 and 19", len(off), 100*half, 100*most)
	}
}

// Goal: formulas count for long vectors what ranks send and copy beside the longest path, and nothing that they do not.
// Method: all candidates of three algorithms, 8 MiB of 4 and 8 ranks on one host, between the parts of what a
// simulation says that they are within.
func TestEstimatesOfLongVectors(t *testing.T) {
	for _, test := range []struct {
		op          schedule.Operation
		name        string
		least, most float64
	}{
		{schedule.Broadcast, "scatter-allgather", 0.88, 1.3},
		{schedule.Reduce, "shared", 0.95, 1.1},
		{schedule.Gather, "binomial", 0.8, 1.15},
	} {
		compared, low, high := 0, math.Inf(1), 0.0
		for _, s := range settings()[:3] {
			for _, ranks := range []int{4, 8} {
				for _, plain := range []bool{false, true} {
					ch, c := s.call(test.op, ranks, 8<<20, plain)
					each(t, ch, &c, test.name, func(v Variant, got, want float64) {
						compared, low, high = compared+1, min(low, got/want), max(high, got/want)
						if got < test.least*want || got > test.most*want {
							t.Errorf("%s: %v by %v, %d ranks: %.3g s by its formula, %.3g s by simulation", s.name, test.op, v, ranks, got, want)
						}
					})
				}
			}
		}
		if t.Logf("%v %s: %d candidates, %.2f to %.2f", test.op, test.name, compared, low, high); compared == 0 {
			t.Error("no candidates")
		}
	}
}

// each calls do with the candidates of a call, of all algorithms if none is named, and their times in seconds by formula
// and by simulation.
func each(t *testing.T, ch *Chooser, c *Signature, algorithm string, do func(v Variant, got, want float64)) {
	t.Helper()
	at := topologyOf(t, ch, c)
	for _, v := range ch.Candidates(c, Settings{Algorithm: algorithm}) {
		want, err := ch.predict(c, at, v)
		if err != nil {
			t.Fatal(err)
		}
		do(v, ch.estimate(c, at, v).seconds, want)
	}
}

// Goal: formulas know when the vectors of the root leave the cache of its host, which those of other ranks do not.
// Method: flat gathers and scatters of slices by ranks on a host each, within a twentieth of what a simulation says. The
// root's 28 blocks of 128 KiB and their copies fit, and 40 do not.
func TestEstimatesOfTheRoot(t *testing.T) {
	for _, s := range settings() {
		if s.name != "a host each" {
			continue
		}
		for _, op := range []schedule.Operation{schedule.Gather, schedule.Scatter} {
			for _, ranks := range []int{28, 40, 64} {
				ch, c := s.call(op, ranks, 128<<10, true)
				each(t, ch, &c, "flat", func(v Variant, got, want float64) {
					if math.Abs(got/want-1) > 0.05 {
						t.Errorf("%v by %v, %d ranks: %.3g s by its formula, %.3g s by simulation", op, v, ranks, got, want)
					}
				})
			}
		}
	}
}

// Goal: formulas know how long the ports of a host of several ranks idle while these copy segments, and which of them
// can send meanwhile.
// Method: candidates in slices on hosts of four ranks, within parts of what a simulation says.
func TestEstimatesOfCopiedSegments(t *testing.T) {
	s := settings()[slices.IndexFunc(settings(), func(s setting) bool { return s.name == "four on a host" })]
	for _, test := range []struct {
		op           schedule.Operation
		name         string
		ranks, bytes int
		least, most  float64
	}{
		{schedule.AllToAll, "pairwise", 12, 512 << 10, 0.9, 1.05},
		{schedule.AllToAll, "direct", 12, 512 << 10, 0.9, 1.1},
		{schedule.AllReduce, "ring", 8, 8 << 20, 0.9, 1.05},
		{schedule.Broadcast, "chain", 8, 8 << 20, 0.95, 1.25},
	} {
		ch, c := s.call(test.op, test.ranks, test.bytes, true)
		each(t, ch, &c, test.name, func(v Variant, got, want float64) {
			if got < test.least*want || got > test.most*want {
				t.Errorf("%v by %v, %d ranks: %.3g s by its formula, %.3g s by simulation", test.op, v, test.ranks, got, want)
			}
		})
	}
}

// Goal: formulas of algorithms whose ranks wait for many others one by one grow with the ranks as simulations do,
// where ranks share cores and give them away.
// Method: all uncut candidates of an alltoall of short blocks, of more and more ranks.
func TestEstimatesOfManyWaits(t *testing.T) {
	for _, s := range settings()[:2] {
		for _, ranks := range []int{16, 48, 100, 128} {
			ch, c := s.call(schedule.AllToAll, ranks, 8, false)
			each(t, ch, &c, "", func(v Variant, got, want float64) {
				if ratio := math.Abs(math.Log(got / want)); ratio > math.Log(1.4) && v.cuts() == 0 {
					t.Errorf("%s: %v, %d ranks: %.3g s by its formula, %.3g s by simulation", s.name, v, ranks, got, want)
				}
			})
		}
	}
}

// Goal: a choice by formulas is about as good as one by simulations of all ranks.
// Method: the time, by simulation, of the chosen variant is within a tenth of the best, in calls of 16 ranks at most, of 32
// to 64, of numbers between powers of two, of long vectors, and of rooted operations and alltoalls in segments and slices.
func TestChoicesAreGood(t *testing.T) {
	few, more := judged{ranks: []int{3, 7, 8, 16}}, judged{ranks: []int{32, 48, 64}}
	if testing.Short() {
		few.ranks, more.ranks = []int{3, 8}, []int{24}
	}
	long := judged{ranks: []int{4, 8}, bytes: []int{1 << 20, 8 << 20}}
	for _, j := range []judged{few, more, long} {
		j.judge(t, (*Chooser).predict)
	}
	if testing.Short() {
		return
	}
	between := judged{ranks: []int{10, 20, 40}, bytes: []int{512, 16 << 10, 128 << 10}}
	rooted := judged{
		ranks: []int{3, 9, 14, 18, 24}, bytes: []int{64 << 10, 16 << 10, 8, 512 << 10},
		operations: []schedule.Operation{schedule.Broadcast, schedule.Reduce, schedule.Gather, schedule.Scatter, schedule.AllToAll},
	}
	apart := judged{ranks: []int{12, 19, 25, 33}, bytes: []int{64 << 10, 1 << 10, 4 << 10}}
	for _, j := range []judged{between, rooted, apart} {
		j.judge(t, (*Chooser).predict)
	}
}

// Goal: so is a choice for 128 and 256 ranks.
// Method: all ranks are simulated in full, which takes minutes, and only if GASPI_TEST_LONG is 1; else a few
// calls are, of 128 ranks.
func TestChoicesForManyAreGood(t *testing.T) {
	all := judged{ranks: []int{128, 256}}
	if os.Getenv("GASPI_TEST_LONG") != "1" {
		all.ranks, all.operations = []int{128}, []schedule.Operation{schedule.AllReduce, schedule.Reduce}
	}
	all.judge(t, (*Chooser).inFull)
}

// judged are calls whose choices are judged.
type judged struct {
	ranks      []int
	operations []schedule.Operation // nil: all
	bytes      []int                // nil: of short vectors and of 128 KiB
}

// A simulator returns the time of a variant of a call.
type simulator func(ch *Chooser, c *Signature, at *price.Topology, v Variant) (float64, error)

// inFull is predict of all ranks, however many steps they have.
func (ch *Chooser) inFull(c *Signature, at *price.Topology, v Variant) (float64, error) {
	machine, with := ch.found(c, at, v), c.Call
	with.Radix = v.Radix
	build := func(r int) *schedule.Schedule { return schedule.Build(&with, r, v.Emitter()) }
	res, err := price.Run(&machine, &with, build, ch.load(c, at, v))
	return res.Makespan / runs, err
}

func (j *judged) judge(t *testing.T, simulate simulator) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // schedules are garbage at once: a fifth of the time
	if j.operations == nil {
		j.operations = estimated()
	}
	if j.bytes == nil {
		j.bytes = []int{8, 2 << 10, 128 << 10}
	}
	calls, good := 0, 0
	for _, s := range settings() {
		for _, op := range j.operations {
			for _, ranks := range j.ranks {
				for i, bytes := range j.bytes {
					ch, c := s.call(op, ranks, bytes, i%2 == 1)
					chosen, took, quickest, best := compare(t, ch, &c, simulate)
					if calls++; took <= 1.1*best {
						good++
						continue
					}
					t.Errorf("%s: %v of %d bytes, %d ranks: chose %v, which takes %.3g s, and %v takes %.3g s", s.name, op, bytes, ranks, chosen, took, quickest, best)
				}
			}
		}
	}
	t.Logf("of %d calls %d are within a tenth of the best", calls, good)
}

// compare simulates the chosen variant of a call and all others that take no more memory than they may, but
// those that a formula calls so slow that it would have to be off by more than TestEstimates allows.
func compare(t *testing.T, ch *Chooser, c *Signature, simulate simulator) (chosen Variant, took float64, quickest Variant, best float64) {
	t.Helper()
	chosen, err := ch.Choose(c)
	if err != nil {
		t.Fatal(err)
	}
	at, all := topologyOf(t, ch, c), ch.Candidates(c, Settings{})
	if took, err = simulate(ch, c, at, chosen); err != nil {
		t.Fatal(err)
	}
	costs := make([]cost, len(all))
	for i, v := range all {
		costs[i] = ch.estimate(c, at, v)
	}
	weigh(costs, c)
	quickest, best = chosen, took
	for i, v := range all {
		if costs[i].heavy || costs[i].seconds > mostOff*best || v.String() == chosen.String() {
			continue
		}
		seconds, err := simulate(ch, c, at, v)
		if err != nil {
			t.Fatal(err)
		}
		if seconds < best {
			quickest, best = v, seconds
		}
	}
	return chosen, took, quickest, best
}

// Goal: each algorithm has a formula.
func TestFormulas(t *testing.T) {
	for _, a := range algorithms.All() {
		if a.Formula == nil {
			t.Errorf("%v has none for %s", a.Op, a.Name)
		}
	}
}

// Goal: a call of many ranks is priced without simulating them.
func TestChooseForManyRanks(t *testing.T) {
	for _, onHost := range []int{1, 16, 64} {
		for _, op := range scaleOps {
			ch, c := manyRanks(65536, onHost, 2, op, 4<<10)
			if _, err := ch.Choose(c); err != nil {
				t.Errorf("%v, %d ranks on a host: %v", op, onHost, err)
			}
			at := topologyOf(t, ch, c)
			for _, v := range ch.Candidates(c, Settings{}) {
				even := c.evened()
				if seconds := ch.estimate(&even, at, v).seconds; !(seconds > 0) || math.IsInf(seconds, 1) {
					t.Errorf("%v, %d ranks on a host: %v takes %v s", op, onHost, v, seconds)
				}
			}
		}
	}
}

// Goal: two ranks choose what takes least by simulation, though formulas may say another variant does.
// Method: all calls of two ranks in all settings, of a message or a few segments.
func TestTwoRanksChooseBySimulation(t *testing.T) {
	for _, s := range settings() {
		for _, op := range estimated() {
			for _, bytes := range []int{8, 512, 4 << 10} {
				ch, c := s.call(op, 2, bytes, false)
				chosen, err := ch.Choose(&c)
				if err != nil {
					t.Fatal(err)
				}
				at := topologyOf(t, ch, &c)
				took, err := ch.predict(&c, at, chosen)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range ch.Candidates(&c, Settings{}) {
					if seconds, err := ch.predict(&c, at, v); err != nil || took > aboutEqual*seconds {
						t.Errorf("%s: %v of %d bytes: chose %v, which takes %.3g s, and %v takes %.3g s: %v", s.name, op, bytes, chosen, took, v, seconds, err)
					}
				}
			}
		}
	}
}

// Goal: no schedule takes much more memory than its formula says, by which a choice knows whether a call fits the caches,
// and those of broadcasts and scatters take no less.
// Method: all candidates of calls in all settings, whole and in segments. Slots and lines are the room that is allowed.
func TestEstimatesOfMemory(t *testing.T) {
	const room = 64 << 10
	exact := []schedule.Operation{schedule.Broadcast, schedule.Scatter}
	for bytes, ops := range map[int][]schedule.Operation{128 << 10: estimated(), 512 << 10: exact} {
		for _, s := range settings() {
			for _, op := range ops {
				for _, ranks := range []int{2, 6, 8, 13, 24} {
					ch, c := s.call(op, ranks, bytes, true)
					at := topologyOf(t, ch, &c)
					for _, v := range ch.Candidates(&c, Settings{}) {
						got, want := ch.estimate(&c, at, v).memory, float64(memoryOf(&c.Call, v, ch.OneNode))
						if want > 1.1*got+room || got > want+room && slices.Contains(exact, op) {
							t.Errorf("%s: %v of %d bytes by %v, %d ranks: %.0f bytes by its formula, %.0f in its schedule", s.name, op, bytes, v, ranks, got, want)
						}
					}
				}
			}
		}
	}
}

// Goal: a formula knows the eager memory of a call that is cut, of which all segments have some, and which is there the
// fewer times for that.
// Method: binomial scatters in 1 to 16 segments, by ranks that share memory and by others.
func TestEstimatesOfEagerSegments(t *testing.T) {
	const room = 4 << 10
	for _, s := range settings() {
		for _, ranks := range []int{2, 6, 8} {
			for segments := 1; segments <= 16; segments *= 2 {
				ch, c := s.call(schedule.Scatter, ranks, 16<<10, true)
				at := topologyOf(t, ch, &c)
				for _, v := range ch.Candidates(&c, Settings{Algorithm: "binomial", SegmentSize: c.Count / segments}) {
					got, want := ch.estimate(&c, at, v).memory, float64(memoryOf(&c.Call, v, ch.OneNode))
					if math.Abs(got-want) > room {
						t.Errorf("%s: %v, %d ranks: %.0f bytes by its formula, %.0f in its schedule", s.name, v, ranks, got, want)
					}
				}
			}
		}
	}
}
