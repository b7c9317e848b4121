package collectives_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// sizes are the numbers of ranks of the matrix.
func sizes() []int { return []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33} }

// A dealer draws instances by a seed. Kinds are dealt from decks, so that none is
// left out.
type dealer struct {
	random     *rand.Rand
	reductions deck
	moves      deck
	work       int // elements that all ranks together check in a round, at most
}

func newDealer(seed uint64, work int) *dealer {
	d := &dealer{random: rand.New(rand.NewPCG(seed, 1)), work: work}
	d.reductions = deck{all: reductionKinds(), random: d.random}
	d.moves = deck{all: movedKinds(), random: d.random}
	return d
}

// A deck deals all its kinds before it deals one again.
type deck struct {
	all, left []kind
	random    *rand.Rand
}

// deal takes the first kind that suits; some do.
func (d *deck) deal(suits func(kind) bool) kind {
	for {
		if i := slices.IndexFunc(d.left, suits); i >= 0 {
			k := d.left[i]
			d.left = slices.Delete(d.left, i, i+1)
			return k
		}
		fresh := slices.Clone(d.all)
		d.random.Shuffle(len(fresh), func(i, j int) { fresh[i], fresh[j] = fresh[j], fresh[i] })
		d.left = append(d.left, fresh...)
	}
}

// counts are the lengths of the matrix for so many ranks: those around k are around
// a power of two.
func counts(ranks, k int) []int {
	return []int{0, 1, ranks - 1, ranks, ranks + 1, k - 1, k, k + 1}
}

// draw is an instance of an algorithm for so many ranks, all else by chance.
func (d *dealer) draw(ranks int, op schedule.Operation, algorithm string) *instance {
	r := d.random
	x := &instance{ranks: ranks, op: op, algorithm: algorithm, vectors: 1, rounds: 2 + r.IntN(2)}
	x.seed, x.mode, x.memory, x.shift = r.Uint64(), mode(r.IntN(int(modes))), memory(r.IntN(int(memories))), r.IntN(8)
	ordered := true
	if algorithm != "" {
		a, err := algorithms.Lookup(op, algorithm)
		ordered = err == nil && a.Ordered
	}
	if op.Reduces() {
		x.kind = d.reductions.deal(func(k kind) bool { return ordered || !k.ordered })
	} else {
		x.kind = d.moves.deal(func(kind) bool { return true })
	}
	for {
		x.inPlace = x.placed(r.IntN(2) == 0)
		x.uneven = x.mayBeUneven() && r.IntN(3) == 0
		all := counts(ranks, 2<<r.IntN(12))
		if x.count = all[r.IntN(len(all))]; x.longest()*x.kind.size > bufferMost || x.work() > d.work {
			continue
		}
		if op.Rooted() {
			x.root = r.IntN(ranks)
		}
		if (op == schedule.AllReduce && x.inPlace || op == schedule.ReduceScatter) && r.IntN(4) == 0 {
			x.vectors = 2 + r.IntN(2)
		} else {
			x.vectors = 1
		}
		x.cut, x.radix = schedule.Segmentation{}, 0
		if algorithm != "" {
			d.tune(x)
		}
		if x.fits() {
			return x
		}
	}
}

// drawSkewed is an instance with blocks of lengths about which choices change, beside
// short ones and nothing. The team chooses if the algorithm cannot do any.
func (d *dealer) drawSkewed(ranks int, op schedule.Operation, algorithm string) *instance {
	r := d.random
	for {
		x := d.draw(ranks, op, algorithm)
		if x.kind.function || x.kind.size < 4 {
			continue
		}
		x.uneven, x.mode, x.rounds = true, []mode{blocking, planned}[r.IntN(2)], 2
		x.skew(r)
		if algorithm != "" {
			d.tune(x) // segments are parts of the longest block
		}
		switch {
		case !x.fits():
			algorithm = "" // that one is for blocks of one length
		case x.longest()*x.kind.size*(1+x.vectors) <= 2*skewedMost:
			return x
		}
	}
}

// skew draws lengths of blocks.
func (x *instance) skew(r *rand.Rand) {
	n := x.ranks
	if x.op == schedule.AllToAll {
		n *= n
	}
	x.lengths = skewed(r, n, x.kind.size)
	for i := range x.lengths {
		if from, to := i/x.ranks, i%x.ranks; x.op == schedule.AllToAll && x.inPlace && from < to {
			x.lengths[i] = x.lengths[to*x.ranks+from]
		}
	}
	x.count = slices.Max(x.lengths)
}

// tune draws the options of an instance.
func (d *dealer) tune(x *instance) {
	r := d.random
	if n := r.IntN(8); n > 4 {
		x.radix = []int{2, 3, 4, 5, 9}[r.IntN(5)]
	}
	cuts := cutsOf(x.count)
	x.cut = cuts[r.IntN(len(cuts))]
}

// cutsOf are the pipelinings of the matrix for n elements.
func cutsOf(n int) []schedule.Segmentation {
	return []schedule.Segmentation{{}, {Concurrency: 2}, {Concurrency: 5}, {Size: n/3 + 1}, {Size: n/7 + 1, Concurrency: 3}}
}

// placed is whether an instance is in place, if it would have it so: functions are.
func (x *instance) placed(want bool) bool {
	return placed(x.op, want || x.kind.function && (x.op == schedule.AllReduce || x.op == schedule.Reduce))
}

// placed is whether a call is in place, if it would have it so: some operations have no choice.
func placed(op schedule.Operation, want bool) bool {
	switch op {
	case schedule.Broadcast, schedule.Scan, schedule.ExScan:
		return true
	case schedule.AllReduce, schedule.Reduce, schedule.ReduceScatter, schedule.AllGather, schedule.AllToAll:
		return want
	}
	return false
}

// mayBeUneven reports whether blocks may have different lengths.
func (x *instance) mayBeUneven() bool {
	return x.op.Blockwise() && !x.kind.function
}

// sample is one instance or more of each algorithm for each number of ranks, the
// algorithms the team chooses by itself included.
func sample(seed uint64, sizes []int, sparse bool) []*instance {
	work := 1 << 20
	if sparse {
		work = 1 << 17
	}
	d := newDealer(seed, work)
	var all []*instance
	turn := 0
	for _, ranks := range sizes {
		for _, op := range schedule.Operations() {
			each := algorithms.For(op)
			for _, a := range each {
				if turn++; !sparse || turn%4 == 0 {
					all = append(all, d.draw(ranks, op, a.Name))
				}
			}
			if !sparse && (ranks <= 9 || ranks == 16) {
				all = append(all, d.draw(ranks, op, ""))
				if op.Blockwise() {
					all = append(all, d.drawSkewed(ranks, op, ""), d.drawSkewed(ranks, op, each[turn%len(each)].Name))
				}
			}
		}
	}
	return all
}

// cover checks that every algorithm, number of ranks, element type and operation
// occurs.
func cover(t *testing.T, all []*instance, sizes []int) {
	t.Helper()
	missing := make(map[string]bool)
	for _, n := range sizes {
		missing[fmt.Sprint(n, " ranks")] = true
	}
	for _, a := range algorithms.All() {
		missing[fmt.Sprintf("%v/%s", a.Op, a.Name)] = true
	}
	for _, k := range slices.Concat(reductionKinds(), movedKinds()) {
		missing[k.name] = true
	}
	for _, x := range all {
		delete(missing, fmt.Sprint(x.ranks, " ranks"))
		delete(missing, fmt.Sprintf("%v/%s", x.op, x.algorithm))
		delete(missing, x.kind.name)
	}
	if len(missing) > 0 {
		t.Errorf("the sample leaves out %v", slices.Sorted(maps.Keys(missing)))
	}
}
