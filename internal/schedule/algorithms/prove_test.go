package algorithms

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/prove"
)

// A trial is one thing to be proven of an algorithm.
type trial struct {
	call schedule.Call
	form form
}

func (t trial) String() string {
	c := t.call
	s := fmt.Sprintf("%s, %d ranks, count %d %v, root %d", t.form.name, c.Size, c.Count, c.Counts, c.Root)
	return s + fmt.Sprintf(", rounds %d, radix %d, in place %v, line %d, nodes %v, engaged %v, depth %v",
		c.Rounds, c.Radix, c.InPlace, c.Line, c.Nodes, c.Engaged, t.depth())
}

// depth returns the depth of eager memory in the trial.
func (t trial) depth() schedule.Depth {
	return depths[(t.call.Size+t.call.Count+t.call.Root)%len(depths)]
}

// depths are some of few copies: of more, more runs are to be looked at.
var depths = []schedule.Depth{{Copies: 2, Batch: 1}, {Copies: 3, Batch: 1}, {Copies: 4, Batch: 2}, {Copies: 2, Batch: 2}, {Copies: 6, Batch: 2}}

// A form is a way to use an algorithm.
type form struct {
	name   string
	staged bool // peers do not touch the caller's vectors
	cut    bool // into segments
	pulls  bool // for algorithms whose peers only read In
	folds  bool // local vectors where In is staged, as of a reduce-scatter
	locals int
	emit   func(n int, e schedule.Emitter) schedule.Emitter // n is the longest block
}

// forms are the ways to use algorithms. Segment sizes depend on the length, so that
// there are few segments, and some of another length than others. Stage and Fan go
// inside Pipeline only: they do not wait for the lanes that an algorithm forks.
func forms() []form {
	type emitter = schedule.Emitter
	pipeline, stage, fan := schedule.Pipeline, schedule.Stage, schedule.Fan
	parts := func(n, parts, concurrency int) schedule.Segmentation {
		return schedule.Segmentation{Size: max(1, n/parts), Concurrency: concurrency}
	}
	return []form{
		{name: "plain", emit: func(_ int, e emitter) emitter { return e }},
		{name: "stage", staged: true, emit: func(_ int, e emitter) emitter { return stage(1, e) }},
		{name: "stage in", staged: true, pulls: true, emit: func(_ int, e emitter) emitter { return schedule.StageIn(1, e) }},
		{name: "pipeline of stages in", staged: true, cut: true, pulls: true,
			emit: func(n int, e emitter) emitter { return pipeline(parts(n, 4, 2), schedule.StageIn(1, e)) }},
		{name: "pipeline of 3 at once", cut: true,
			emit: func(_ int, e emitter) emitter { return pipeline(schedule.Segmentation{Concurrency: 3}, e) }},
		{name: "pipeline of many, 2 at once", cut: true, emit: func(n int, e emitter) emitter { return pipeline(parts(n, 4, 2), e) }},
		{name: "pipeline of many, one by one", cut: true, emit: func(n int, e emitter) emitter { return pipeline(parts(n, 3, 0), e) }},
		{name: "pipeline of stages", staged: true, cut: true,
			emit: func(n int, e emitter) emitter { return pipeline(parts(n, 4, 2), stage(1, e)) }},
		{name: "fan", locals: 3, emit: func(_ int, e emitter) emitter { return fan(3, e) }},
		{name: "pipeline of fans", cut: true, locals: 3, emit: func(n int, e emitter) emitter { return pipeline(parts(n, 3, 2), fan(3, e)) }},
		{name: "pipeline of fans of stages", staged: true, cut: true, locals: 2,
			emit: func(n int, e emitter) emitter { return pipeline(parts(n, 3, 2), fan(2, stage(1, e))) }},
		{name: "stage of locals", staged: true, folds: true, locals: 3, emit: func(_ int, e emitter) emitter { return stage(3, e) }},
		{name: "stage in of locals", folds: true, locals: 3, emit: func(_ int, e emitter) emitter { return schedule.StageIn(3, e) }},
		{name: "pipeline of stages of locals", staged: true, folds: true, cut: true, locals: 2,
			emit: func(n int, e emitter) emitter { return pipeline(parts(n, 4, 2), stage(2, e)) }},
		{name: "pipeline of stages in of locals", folds: true, cut: true, locals: 2,
			emit: func(n int, e emitter) emitter { return pipeline(parts(n, 3, 2), schedule.StageIn(2, e)) }},
	}
}

// fits reports whether the algorithm can do the call.
func fits(a Algorithm, c *schedule.Call) bool { return a.Fits == nil || a.Fits(c) == nil }

// trials are all that is to be proven of an algorithm, which heeds these parameters, at p ranks.
func trials(a Algorithm, p int, heeds heeds) []trial {
	var all []trial
	for _, c := range variants(a.Op, p, heeds) {
		for _, f := range forms() {
			fan := a.Op == schedule.AllReduce && c.InPlace && !f.folds || a.Op == schedule.ReduceScatter && f.folds
			if f.cut && a.Whole || f.pulls && !a.Pulls || f.locals > 1 && !fan || !fits(a, &c) {
				continue
			}
			all = append(all, trial{c, f})
		}
	}
	return all
}

// heeds says which parameters of a call make a difference to an algorithm.
type heeds struct{ radix, nodes bool }

func heedsOf(a Algorithm) heeds {
	c := schedule.Call{Op: a.Op, Size: 8, Count: 8, Line: 1, Rounds: 3}
	odd, apart := c, c
	odd.Radix, apart.Nodes = 3, place(8, func(r int) int { return r / 3 })
	return heeds{differ(a, c, odd), differ(a, c, apart)}
}

// differ reports whether an algorithm does two calls in different ways.
func differ(a Algorithm, c, d schedule.Call) bool {
	if !fits(a, &c) || !fits(a, &d) {
		return fits(a, &c) != fits(a, &d)
	}
	for r := range c.Size {
		if schedule.Build(&c, r, a.Emit).String() != schedule.Build(&d, r, a.Emit).String() {
			return true
		}
	}
	return false
}

// variants are the calls of an operation at p ranks.
func variants(op schedule.Operation, p int, heeds heeds) []schedule.Call {
	var all []schedule.Call
	radices, nodes := []int{0}, [][]int{nil}
	if heeds.radix {
		radices = []int{0, 1, 2, 3, 4, 7}
	}
	if heeds.nodes {
		nodes = layouts(p)
	}
	inPlace := []bool{false, true}
	if op == schedule.Broadcast || op == schedule.Barrier || op == schedule.Exchange {
		inPlace = inPlace[:1] // always, or never
	}
	for _, root := range roots(op, p) {
		for _, c := range sizes(op, p) {
			for _, radix := range radices {
				for _, nodes := range nodes {
					for _, inPlace := range inPlace {
						c.Root, c.Radix, c.Nodes, c.InPlace = root, radix, nodes, inPlace
						c.Line = []int{1, 8, 3}[(c.Count+root+radix)%3]
						all = append(all, c)
					}
				}
			}
		}
	}
	return all
}

func roots(op schedule.Operation, p int) []int {
	if !op.Rooted() {
		return []int{0}
	}
	if p > 9 {
		return []int{0, 1, p/2 + 1, p - 1}
	}
	all := make([]int, p)
	for r := range all {
		all[r] = r
	}
	return all
}

// sizes are the calls of an operation that differ by the sizes of vectors, and by
// who contributes.
func sizes(op schedule.Operation, p int) []schedule.Call {
	base := schedule.Call{Op: op, Size: p, Rounds: bits.Len(uint(p - 1))}
	if op == schedule.Barrier {
		return []schedule.Call{base}
	}
	var all []schedule.Call
	counts := []int{0, 1, p - 1, p, p + 1, 2*p + 3}
	slices.Sort(counts)
	for _, n := range slices.Compact(counts) {
		c := base
		c.Count = n
		all = append(all, c)
	}
	if op.Blockwise() {
		blocks := p
		if op == schedule.AllToAll {
			blocks = p * p
		}
		one, even, odd := make([]int, blocks), make([]int, blocks), make([]int, blocks)
		one[blocks/2] = 5
		for i := range blocks {
			even[i] = (i*5 + 2) % 4
			odd[i] = (i % p) ^ (i/p)%3 // symmetric at least for small p
		}
		for _, counts := range [][]int{one, even, odd, symmetric(p)} {
			if len(counts) == blocks {
				c := base
				c.Counts = counts
				all = append(all, c)
			}
		}
	}
	if op == schedule.Reduce {
		for _, every := range []int{1, 2, 3, p} {
			c := base
			c.Count, c.Engaged = p+2, make([]bool, p)
			for r := range c.Engaged {
				c.Engaged[r] = (p-r)%every == 0 || every > p // one at least
			}
			all = append(all, c)
		}
	}
	return all
}

// symmetric are counts of an AllToAll in which both of a pair send as much.
func symmetric(p int) []int {
	all := make([]int, p*p)
	for i := range p {
		for j := range p {
			all[i*p+j] = (i + j + i*j) % 4
		}
	}
	return all
}

// layouts are some ways to place ranks on hosts.
func layouts(p int) [][]int {
	return [][]int{
		nil,
		place(p, func(int) int { return 0 }),
		place(p, func(r int) int { return r }),
		place(p, func(r int) int { return r / 2 }),
		place(p, func(r int) int { return r % 3 }),
		place(p, func(r int) int { return min(r, 1) }),
		place(p, func(r int) int { return 2 * (r * r % 5) }),
		place(p, func(r int) int { return bits.Len(uint(r)) }),
	}
}

func place(p int, host func(r int) int) []int {
	all := make([]int, p)
	for r := range all {
		all[r] = host(r)
	}
	return all
}

// A bench proves trials, each in the memory of the ones before it. It is for one goroutine at a time.
type bench struct {
	prover prove.Prover
	makers []schedule.Maker // by rank
	made   []*schedule.Schedule
}

// prove proves one trial.
func (b *bench) prove(a Algorithm, t trial) error {
	opts := prove.Options{Ordered: a.Ordered, Shares: a.Shares, Exposes: a.Exposes && !t.form.staged, Locals: t.form.locals, Hosts: t.call.Nodes, Depth: t.depth()}
	emit := t.form.emit(slices.Max(append([]int{t.call.Count}, t.call.Counts...)), a.Emit)
	for len(b.makers) < t.call.Size {
		b.makers = append(b.makers, schedule.Maker{})
	}
	b.made = b.made[:0]
	err := b.prover.Check(&t.call, func(r int) *schedule.Schedule {
		s := b.makers[r].Build(&t.call, r, emit)
		b.made = append(b.made, s)
		return s
	}, opts)
	for r, s := range b.made {
		b.makers[r].Free(s)
	}
	return err
}

// budget is how many trials there are at p ranks, of all that are possible.
func budget(p int) int {
	switch {
	case p <= 4:
		return 120
	case p <= 9:
		return 16
	case p <= 17:
		return 4
	case p <= 33:
		return 2
	}
	return 1
}

// costly reports whether a trial is left out at p ranks, since there are enough of
// its kind at others: segments multiply steps.
func (t trial) costly(p int) bool {
	return p > 17 && p%8 != 0 && t.form.cut || p > 33 && (t.form.cut || t.call.Count > p)
}

// everywhere is for whoever has a minute: make matrix, say.
var everywhere = flag.Bool("everywhere", false, "prove every algorithm at every number of ranks up to 64")

// skips reports whether an algorithm is left out at p ranks. From 34 on those of
// many steps take turns, so that each number of ranks gets a third of them.
func skips(p int, turn uint64, many bool) bool {
	switch {
	case *everywhere || p <= 9 || p == 63:
		return false
	case testing.Short():
		return !slices.Contains([]int{15, 16, 17, 32, 33}, p)
	}
	return many && p > 33 && p != 64 && (uint64(p)+turn)%3 != 0
}

// TestProve proves every algorithm at 1 to 64 ranks. Of the trials at one number
// of ranks some are drawn, always the same; with few ranks all.
func TestProve(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	t.Run("all", func(t *testing.T) {
		for _, a := range All() {
			t.Run(fmt.Sprintf("%v/%s", a.Op, a.Name), func(t *testing.T) {
				t.Parallel()
				many, heeds, b := steps(a, 64) > 64*manySteps, heedsOf(a), new(bench)
				for p := 1; p <= 64; p++ {
					if !skips(p, seedOf(a), many) {
						proveSome(t, b, a, p, heeds)
					}
				}
			})
		}
	})
}

// seedOf is a number that is an algorithm's own.
func seedOf(a Algorithm) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, a.Op, a.Name)
	return h.Sum64()
}

// proveSome proves some trials of an algorithm, which heeds these parameters, at p ranks.
func proveSome(t *testing.T, b *bench, a Algorithm, p int, heeds heeds) {
	some, all := budget(p), slices.DeleteFunc(trials(a, p, heeds), func(t trial) bool { return t.costly(p) })
	if p <= 2 && len(all) == 0 {
		t.Fatalf("%d ranks: there is no call that it fits", p)
	}
	seed := seedOf(a)
	rng := rand.New(rand.NewPCG(seed, uint64(p)))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if testing.Short() {
		some = (some + 3) / 4
	}
	for _, trial := range all[:min(some, len(all))] {
		if err := b.prove(a, trial); err != nil {
			t.Fatalf("%v (drawn with seed %d):\n%v", trial, seed, err)
		}
	}
}

// TestProveManyRanks proves algorithms that take few steps at up to 1024 ranks.
func TestProveManyRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	t.Run("all", func(t *testing.T) {
		for i, a := range All() {
			t.Run(fmt.Sprintf("%v/%s", a.Op, a.Name), func(t *testing.T) {
				t.Parallel()
				b := new(bench)
				for _, p := range []int{[]int{100, 127, 128, 129, 255, 256, 257}[i%7], []int{511, 512, 1000, 1024}[i%4]} {
					c := schedule.Call{Op: a.Op, Size: p, Root: p / 3, Count: p / 50, Line: 8, Rounds: bits.Len(uint(p - 1))}
					if !a.Op.Blockwise() {
						c.Count = p + 1
					}
					if !fits(a, &c) || steps(a, 64) > 64*manySteps {
						continue
					}
					if err := b.prove(a, trial{c, forms()[0]}); err != nil {
						t.Fatalf("%+v:\n%v", c, err)
					}
				}
			})
		}
	})
}

// manySteps is more steps than a rank has at 64 ranks if they grow with the logarithm.
const manySteps = 80

// steps is how many steps all ranks take for a small call, many if none fits.
func steps(a Algorithm, p int) int {
	c := schedule.Call{Op: a.Op, Size: p, Count: p, Line: 1, Rounds: bits.Len(uint(p - 1))}
	if !fits(a, &c) {
		return 1 << 30
	}
	n := 0
	for r := range p {
		n += schedule.Build(&c, r, a.Emit).Steps()
	}
	return n
}

// TestFlagsOfAlgorithms tests that no algorithm asks for more than it uses. That it
// uses no more than it asks for is part of the proof.
func TestFlagsOfAlgorithms(t *testing.T) {
	for _, a := range All() {
		exposes, shares, heeds := false, false, heedsOf(a)
		for _, p := range []int{2, 3, 4, 6} {
			for _, trial := range trials(a, p, heeds) {
				if trial.form.name == "plain" {
					for r := range p {
						s := schedule.Build(&trial.call, r, a.Emit)
						exposes, shares = exposes || s.Exposes(), shares || s.Shares()
					}
				}
			}
		}
		if exposes != a.Exposes || shares != a.Shares {
			t.Errorf("%v %s: exposes %v and shares %v, but says %v and %v", a.Op, a.Name, exposes, shares, a.Exposes, a.Shares)
		}
	}
}
