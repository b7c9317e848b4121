package algorithms

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/prove"
)

// This file asks the proof itself whether it holds: schedules that were changed at
// random, and are proven all the same, are run by a simulator that chooses by chance
// what happens next, as late as the meaning of steps allows, with values in place of
// terms. It shares no code with package prove.

// An element is an affine map; folding composes, which keeps the order of ranks
// unless all are shifts.
type element struct{ mul, add uint64 }

func (e element) then(f element) element {
	return element{e.mul * f.mul, e.add*f.mul + f.add}
}

// A chance is one run of schedules by chance.
type chance struct {
	call    *schedule.Call
	ordered bool
	plans   []*schedule.Schedule
	rng     *rand.Rand
	pace    []int // of ranks, and of what is under way
	ranks   []*chanceRank
	flights []*flight // not yet arrived
}

type chanceRank struct {
	run    int
	at     []int
	memory map[schedule.Buffer][][]element // copies
	slots  []int                           // the last value that arrived
}

// A flight is a put or signal under way.
type flight struct {
	rank, lane int
	step       *schedule.Step
	run        int
	value      int // of the post
	data       []element
	read       bool
	written    bool
}

// chanceRuns use each copy of eager memory more than once.
const chanceRuns = 5

// chanceDepth has the depth of eager memory.
var chanceDepth = schedule.Depth{Copies: 2, Batch: 1}

// runs runs the schedules and returns what went wrong.
func (w *chance) runs() error {
	for r := range w.plans {
		k := &chanceRank{run: -1, at: make([]int, len(w.plans[r].Lanes)), memory: make(map[schedule.Buffer][][]element), slots: make([]int, w.slot(schedule.FirstEagerSlot+int32(w.plans[0].EagerSlots), 0))}
		for buf, n := range map[schedule.Buffer]int{schedule.Scratch: w.plans[0].Scratch, schedule.Flip: w.plans[0].Flip,
			schedule.In: w.call.Total(), schedule.Out: w.call.Total(), schedule.Eager: w.plans[0].Eager} {
			for range copiesOf(buf) {
				k.memory[buf] = append(k.memory[buf], make([]element, n))
			}
		}
		w.ranks = append(w.ranks, k)
		w.pace = append(w.pace, 1+w.rng.IntN(20))
	}
	w.pace = append(w.pace, 1+w.rng.IntN(20))
	for r := range w.plans {
		w.turn(r)
	}
	for idle := 0; idle < 4000; idle++ {
		who := w.rng.IntN(len(w.pace))
		if w.rng.IntN(20) >= w.pace[who] {
			continue
		}
		moved, err := false, error(nil)
		if who < len(w.plans) {
			moved, err = w.walk(who)
		} else if len(w.flights) > 0 {
			moved = w.fly(w.rng.IntN(len(w.flights)))
		}
		if err != nil {
			return err
		}
		if moved {
			idle = 0
		}
	}
	for r, k := range w.ranks {
		if k.run < chanceRuns {
			return fmt.Errorf("rank %d waits for ever in run %d", r, k.run)
		}
	}
	return nil
}

// region is the memory that a region names in a run.
func (w *chance) region(r schedule.Region, run int) []element {
	return w.ranks[r.Rank].memory[r.Buf][run%copiesOf(r.Buf)][r.Off : r.Off+r.Len]
}

// copiesOf is how many copies of a buffer runs use in turns.
func copiesOf(buf schedule.Buffer) int {
	switch buf {
	case schedule.Flip:
		return 2
	case schedule.Eager:
		return chanceDepth.Copies
	}
	return 1
}

// slot is which of a rank's slots has that number in a run.
func (w *chance) slot(number int32, run int) int {
	if number < schedule.FirstEagerSlot {
		return int(number)
	}
	return w.plans[0].Slots + int(number-schedule.FirstEagerSlot)*chanceDepth.Copies + chanceDepth.Copy(run)
}

// walk does a step of some lane of a rank, or ends its run.
func (w *chance) walk(rank int) (bool, error) {
	k := w.ranks[rank]
	if k.run == chanceRuns {
		return false, nil
	}
	var open []int
	for l, at := range k.at {
		if at < len(w.plans[rank].Lanes[l]) {
			open = append(open, l)
		}
	}
	if len(open) == 0 {
		if w.reading(rank, -1) {
			return false, nil
		}
		if err := w.right(rank); err != nil {
			return false, err
		}
		w.turn(rank)
		return true, nil
	}
	l := open[w.rng.IntN(len(open))]
	step := &w.plans[rank].Lanes[l][k.at[l]]
	switch step.Kind {
	case schedule.Await:
		if k.slots[w.slot(step.Slot, k.run)] < w.value(k.run, rank, step.Slot, int(step.Count)) {
			return false, nil
		}
	case schedule.AwaitCredit:
		if n, waits := chanceDepth.Awaits(k.run); waits && k.slots[step.Slot] < n {
			return false, nil
		}
	case schedule.Credit:
		if w.reading(rank, l) {
			return false, nil
		}
		if chanceDepth.Credits(k.run) {
			w.flights = append(w.flights, &flight{rank: rank, lane: l, step: step, run: k.run, value: (k.run + 1) / chanceDepth.Batch})
		}
	case schedule.Flush:
		if w.reading(rank, l) {
			return false, nil
		}
	case schedule.Combine:
		sum := slices.Clone(w.region(step.Src[0], k.run))
		for _, src := range step.Src[1:] {
			for i, e := range w.region(src, k.run) {
				sum[i] = sum[i].then(e)
			}
		}
		for _, dst := range step.Dst {
			copy(w.region(dst, k.run), sum)
		}
	default:
		f := &flight{rank: rank, lane: l, step: step, run: k.run}
		if step.Slot != schedule.NoSlot {
			f.value = w.value(k.run, int(step.Peer), step.Slot, w.nth(rank, l, k.at[l]))
		}
		w.flights = append(w.flights, f)
	}
	k.at[l]++
	return true, nil
}

// nth is the how-manieth post to its slot a step of a rank is.
func (w *chance) nth(rank, lane, at int) int {
	step, n := &w.plans[rank].Lanes[lane][at], 0
	for l, steps := range w.plans[rank].Lanes[:lane+1] {
		for i := range steps {
			if s := &steps[i]; (l < lane || i <= at) && posts(s) && s.Peer == step.Peer && s.Slot == step.Slot {
				n++
			}
		}
	}
	return n
}

// value is what the nth post of a run to a slot writes.
func (w *chance) value(run, rank int, slot int32, nth int) int {
	per := 0
	for _, steps := range w.plans[rank].Lanes {
		for i := range steps {
			if s := &steps[i]; s.Kind == schedule.Await && s.Slot == slot {
				per = max(per, int(s.Count))
			}
		}
	}
	return run*per + nth
}

// reading reports whether a put of a lane, or of any with -1, has not yet read its
// source.
func (w *chance) reading(rank, lane int) bool {
	return slices.ContainsFunc(w.flights, func(f *flight) bool {
		return f.rank == rank && (f.lane == lane || lane < 0) && f.step.Kind == schedule.Put && !f.read
	})
}

// fly lets something under way get further: read, write, arrive.
func (w *chance) fly(i int) bool {
	f := w.flights[i]
	switch {
	case f.step.Kind == schedule.Put && !f.read:
		f.data, f.read = slices.Clone(w.region(f.step.Src[0], f.run)), true
		return true
	case f.step.Kind == schedule.Put && !f.written:
		copy(w.region(f.step.Dst[0], f.run), f.data)
		f.written = true
		return true
	case f.step.Kind != schedule.Put:
		for _, g := range w.flights[:i] {
			if g.rank == f.rank && g.lane == f.lane && g.step.Peer == f.step.Peer {
				return false
			}
		}
	}
	if f.step.Slot != schedule.NoSlot {
		w.ranks[f.step.Peer].slots[w.slot(f.step.Slot, f.run)] = f.value
	}
	w.flights = slices.Delete(w.flights, i, i+1)
	return true
}

// turn is the caller's: it writes its vectors, and the next run begins.
func (w *chance) turn(rank int) {
	k := w.ranks[rank]
	k.run++
	clear(k.at)
	for _, buf := range []schedule.Buffer{schedule.In, schedule.Out} {
		for i := range k.memory[buf][0] {
			k.memory[buf][0][i] = element{w.rng.Uint64(), w.rng.Uint64()}
			if buf == schedule.In || w.call.Op == schedule.Broadcast && rank == w.call.Root {
				k.memory[buf][0][i] = w.given(k.run, rank, i)
			}
		}
	}
}

// given is element i of a rank's contribution to a run.
func (w *chance) given(run, rank, i int) element {
	rng := rand.New(rand.NewPCG(uint64(run)<<32|uint64(rank), uint64(i)))
	e := element{1, rng.Uint64()}
	if w.ordered {
		e.mul = rng.Uint64() | 1
	}
	return e
}

// right returns what is wrong with a rank's result.
func (w *chance) right(rank int) error {
	c, k := w.call, w.ranks[rank]
	for i := range c.OutLen(rank) {
		var want element
		switch c.Op {
		case schedule.Broadcast:
			want = w.given(k.run, c.Root, i)
		case schedule.AllGather, schedule.Gather:
			want = w.given(k.run, i/c.Count, i%c.Count)
		case schedule.AllToAll:
			want = w.given(k.run, i/c.Count, rank*c.Count+i%c.Count)
		default:
			at, to := i, c.Size
			if c.Op == schedule.ReduceScatter {
				at += rank * c.Count
			}
			if c.Op == schedule.Scan {
				to = rank + 1
			}
			want = w.given(k.run, 0, at)
			for r := 1; r < to; r++ {
				want = want.then(w.given(k.run, r, at))
			}
		}
		if got := k.memory[schedule.Out][0][i]; got != want {
			return fmt.Errorf("run %d rank %d: element %d is wrong", k.run, rank, i)
		}
	}
	return nil
}

// disturb changes schedules at random, in ways that may or may not be wrong.
func disturb(m *mutation) {
	for range 1 + m.rng.IntN(2) {
		at, ok := m.pick(func(site, *schedule.Step) bool { return true })
		if !ok {
			return
		}
		lanes := &m.all[at.rank].Lanes
		lane := (*lanes)[at.lane]
		switch m.rng.IntN(6) {
		case 0: // a step earlier or later
			step := lane[at.step]
			m.remove(at)
			at.step = min(max(0, at.step+m.rng.IntN(7)-3), len(lane)-1)
			m.insert(at, step)
		case 1: // two lanes of one
			*lanes = append(*lanes, slices.Clone(lane[at.step:]))
			(*lanes)[at.lane] = lane[:at.step:at.step]
		case 2: // a step in a lane of its own
			*lanes = append(*lanes, schedule.Lane{lane[at.step]})
			m.remove(at)
		case 3, 4: // a post and its await less
			dropBoth(m)
		case 5: // memory that is shared with the runs before and after
			unflip(m)
		}
	}
}

// TestProofsHold changes schedules at random and runs them by chance: none that is
// proven may go wrong, and most that are refused do, or the simulator is too kind.
func TestProofsHold(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var proven, refused, wrong atomic.Int32
	t.Run("all", func(t *testing.T) {
		for i, a := range All() {
			if a.Op == schedule.Exchange || a.Op == schedule.ExScan || a.Op == schedule.Scatter || a.Op == schedule.Barrier {
				continue // what they leave alone, or deal out, the simulator does not know
			}
			t.Run(fmt.Sprintf("%v/%s", a.Op, a.Name), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(seed, uint64(i)))
				var prover prove.Prover
				for range 40 {
					c := schedule.Call{Op: a.Op, Size: 2 + rng.IntN(3), Count: 5, Line: 1}
					c.Root = rng.IntN(c.Size)
					if !fits(a, &c) {
						continue
					}
					m, err := disturbed(&prover, a, &c, rng)
					fails := tryChance(a, &c, m, rng)
					switch {
					case err == nil:
						proven.Add(1)
						if fails != nil {
							t.Errorf("%+v: proven, and yet %v\n%v", c, fails, m)
						}
					case err.(*prove.Error).Rule == prove.Race:
						refused.Add(1)
						if fails != nil {
							wrong.Add(1)
						}
					}
				}
			})
		}
	})
	t.Logf("%d changed schedules are proven; of %d refused for a race, %d went wrong", proven.Load(), refused.Load(), wrong.Load())
	if proven.Load() < 100 || refused.Load() < 100 || wrong.Load() < refused.Load()/2 {
		t.Error("too few to tell")
	}
}

// disturbed are changed schedules of a call, and what their proof says.
func disturbed(prover *prove.Prover, a Algorithm, c *schedule.Call, rng *rand.Rand) ([]*schedule.Schedule, error) {
	m := &mutation{rng: rng}
	for r := range c.Size {
		m.all = append(m.all, schedule.Build(c, r, a.Emit))
	}
	disturb(m)
	opts := prove.Options{Ordered: a.Ordered, Shares: a.Shares, Exposes: a.Exposes, Depth: chanceDepth}
	return m.all, prover.Check(c, func(r int) *schedule.Schedule { return m.all[r] }, opts)
}

// tryChance runs schedules by chance, some times, and returns what went wrong.
func tryChance(a Algorithm, c *schedule.Call, all []*schedule.Schedule, rng *rand.Rand) error {
	for _, s := range all {
		for _, lane := range s.Lanes {
			if slices.ContainsFunc(lane, func(s schedule.Step) bool { return s.Kind == schedule.Encode }) {
				return nil // the simulator does not code
			}
		}
	}
	for range 10 {
		w := &chance{call: c, ordered: a.Ordered, plans: all, rng: rng}
		if err := w.runs(); err != nil {
			return err
		}
	}
	return nil
}
