package algorithms

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// This file explores all orders in which ranks can go on and messages can arrive, over several runs
// of schedules with eager memory of few copies: that results are right in all of them shows that no
// copy is overwritten before it was read, and that a state without a next one is the end shows that
// nothing waits for ever.

// A world is the schedules of all ranks, of one lane each, run after run.
type world struct {
	call  *schedule.Call
	plans []*schedule.Schedule
	depth schedule.Depth
	runs  int
	seen  map[string]bool
}

// A state is one of the world.
type state struct {
	ranks   []stateRank
	flights []stateFlight // in the order in which they were issued
}

type stateRank struct {
	run, at int
	memory  [][]uint64 // scratch, in, out, and the copies of eager memory
	slots   []int
}

// A stateFlight is a put or credit under way.
type stateFlight struct {
	rank, run, step int
	value           int // of the post
	data            []uint64
	stage           flightStage
}

type flightStage byte

const (
	issued  flightStage = iota
	read                // its source is free
	written             // its data are there, and its post is not
)

// Memories of a stateRank.
const (
	ofScratch = iota
	ofIn
	ofOut
	ofEager
)

// start is the state before the first run.
func (w *world) start() *state {
	s := &state{}
	p := w.plans[0]
	for r := range w.plans {
		k := stateRank{memory: make([][]uint64, ofEager+w.depth.Copies), slots: make([]int, p.Slots+p.EagerSlots*w.depth.Copies)}
		for i := range k.memory {
			k.memory[i] = make([]uint64, max(p.Scratch, p.Eager, w.call.Count))
		}
		s.ranks = append(s.ranks, k)
		w.give(s, r)
	}
	return s
}

// give writes a rank's contribution to its present run.
func (w *world) give(s *state, rank int) {
	k := &s.ranks[rank]
	for i := range w.call.Count {
		k.memory[ofIn][i], k.memory[ofOut][i] = w.given(k.run, rank, i), 0
		if w.call.Op == schedule.Broadcast && rank == w.call.Root {
			k.memory[ofOut][i] = w.given(k.run, rank, i)
		}
	}
}

// given is an element of a rank's contribution to a run.
func (w *world) given(run, rank, i int) uint64 {
	return (uint64(run)*31 + uint64(rank) + 1) * (uint64(i) + 0x9e3779b97f4a7c15)
}

// region is what a region names in a run.
func (w *world) region(s *state, r schedule.Region, run int) []uint64 {
	of := map[schedule.Buffer]int{schedule.Scratch: ofScratch, schedule.In: ofIn, schedule.Out: ofOut, schedule.Eager: ofEager + w.depth.Copy(run)}[r.Buf]
	return s.ranks[r.Rank].memory[of][r.Off : r.Off+r.Len]
}

// slot is which of a rank's slots has that number in a run.
func (w *world) slot(number int32, run int) int {
	if number < schedule.FirstEagerSlot {
		return int(number)
	}
	return w.plans[0].Slots + int(number-schedule.FirstEagerSlot)*w.depth.Copies + w.depth.Copy(run)
}

// explore visits all states that can follow one, and returns what goes wrong.
func (w *world) explore(first *state) error {
	for open := []*state{first}; len(open) > 0; {
		s := open[len(open)-1]
		open = open[:len(open)-1]
		if key := s.key(); w.seen[key] {
			continue
		} else {
			w.seen[key] = true
		}
		next := false
		for r := range s.ranks {
			t, err := w.advance(s, r)
			if err != nil {
				return err
			}
			if t != nil {
				open, next = append(open, t), true
			}
		}
		for i := range s.flights {
			open, next = append(open, w.fly(s, i)), true
		}
		for r := range s.ranks {
			if !next && s.ranks[r].run < w.runs {
				return fmt.Errorf("rank %d waits for ever in run %d", r, s.ranks[r].run)
			}
		}
	}
	return nil
}

// advance is the state after the next step of a rank, nil if there is none.
func (w *world) advance(from *state, rank int) (*state, error) {
	k, lanes := from.ranks[rank], w.plans[rank].Lanes
	if k.run == w.runs {
		return nil, nil
	}
	reading := slices.ContainsFunc(from.flights, func(f stateFlight) bool { return f.rank == rank && f.stage == issued })
	if len(lanes) == 0 || k.at == len(lanes[0]) {
		if reading {
			return nil, nil
		}
		return w.turn(from, rank)
	}
	step := &lanes[0][k.at]
	value := k.run + 1
	switch step.Kind {
	case schedule.Await:
		if k.slots[w.slot(step.Slot, k.run)] != value {
			return nil, nil
		}
	case schedule.AwaitCredit:
		if n, _ := w.depth.Awaits(k.run); k.slots[step.Slot] < n {
			return nil, nil
		}
	case schedule.Credit:
		if reading {
			return nil, nil
		}
		value /= w.depth.Batch
	}
	to := from.clone()
	to.ranks[rank].at++
	switch {
	case step.Kind == schedule.Combine:
		sum := make([]uint64, step.Dst[0].Len)
		for _, src := range step.Src {
			for i, v := range w.region(to, src, k.run) {
				sum[i] += v
			}
		}
		for _, dst := range step.Dst {
			copy(w.region(to, dst, k.run), sum)
		}
	case step.Kind == schedule.Put, step.Kind == schedule.Credit && w.depth.Credits(k.run):
		f := stateFlight{rank: rank, run: k.run, step: k.at, value: value}
		if step.Kind == schedule.Credit {
			f.stage = written
		}
		to.flights = append(to.flights, f)
	}
	return to, nil
}

// turn checks the result of a rank and begins its next run.
func (w *world) turn(from *state, rank int) (*state, error) {
	to := from.clone()
	k := &to.ranks[rank]
	for i := range w.call.OutLen(rank) {
		want := w.given(k.run, w.call.Root, i)
		if w.call.Op == schedule.Reduce {
			want = 0
			for r := range w.plans {
				want += w.given(k.run, r, i)
			}
		}
		if got := k.memory[ofOut][i]; got != want {
			return nil, fmt.Errorf("run %d rank %d: element %d is %x, want %x", k.run, rank, i, got, want)
		}
	}
	k.run, k.at = k.run+1, 0
	w.give(to, rank)
	return to, nil
}

// fly is the state after a message has got further.
func (w *world) fly(from *state, i int) *state {
	to := from.clone()
	f := &to.flights[i]
	step := &w.plans[f.rank].Lanes[0][f.step]
	switch f.stage {
	case issued:
		f.data = slices.Clone(w.region(to, step.Src[0], f.run))
	case read:
		copy(w.region(to, step.Dst[0], f.run), f.data)
		f.data = nil
	case written:
		at := &to.ranks[step.Peer].slots[w.slot(step.Slot, f.run)]
		*at = max(*at, f.value) // credits of one rank come in order
		to.flights = slices.Delete(to.flights, i, i+1)
		return to
	}
	f.stage++
	return to
}

func (s *state) clone() *state {
	t := &state{ranks: slices.Clone(s.ranks), flights: slices.Clone(s.flights)}
	for i := range t.ranks {
		k := &t.ranks[i]
		k.slots, k.memory = slices.Clone(k.slots), slices.Clone(k.memory)
		for j := range k.memory {
			k.memory[j] = slices.Clone(k.memory[j])
		}
	}
	return t
}

// key is the state as a string.
func (s *state) key() string {
	var b []byte
	for i := range s.ranks {
		k := &s.ranks[i]
		b = append(b, byte(k.run), byte(k.at))
		for _, m := range k.memory {
			for _, v := range m {
				b = binary.LittleEndian.AppendUint64(b, v)
			}
		}
		for _, v := range k.slots {
			b = append(b, byte(v))
		}
	}
	for i := range s.flights {
		f := &s.flights[i]
		b = append(b, byte(f.rank), byte(f.run), byte(f.step), byte(f.stage))
		for _, v := range f.data {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
	}
	return string(b)
}

// TestAllOrdersOfEagerRuns has a root, or all others, run ahead by as many calls as there are copies,
// and a rank in between, in all orders. Without credits it goes wrong.
func TestAllOrdersOfEagerRuns(t *testing.T) {
	cases := []struct {
		call  schedule.Call
		depth schedule.Depth
		runs  int
	}{
		{schedule.Call{Op: schedule.Broadcast, Size: 2, Count: 1, Line: 1}, schedule.Depth{Copies: 2, Batch: 1}, 5},
		{schedule.Call{Op: schedule.Broadcast, Size: 2, Root: 1, Count: 2, Line: 1}, schedule.Depth{Copies: 3, Batch: 1}, 6},
		{schedule.Call{Op: schedule.Broadcast, Size: 2, Count: 1, Line: 1}, schedule.Depth{Copies: 4, Batch: 2}, 7},
		{schedule.Call{Op: schedule.Broadcast, Size: 3, Root: 1, Count: 1, Line: 1}, schedule.Depth{Copies: 2, Batch: 1}, 3},
		{schedule.Call{Op: schedule.Reduce, Size: 2, Count: 1, Line: 1}, schedule.Depth{Copies: 2, Batch: 1}, 5},
		{schedule.Call{Op: schedule.Reduce, Size: 2, Root: 1, Count: 1, Line: 1}, schedule.Depth{Copies: 3, Batch: 1}, 6},
		{schedule.Call{Op: schedule.Reduce, Size: 3, Root: 1, Count: 1, Line: 1}, schedule.Depth{Copies: 2, Batch: 1}, 3},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%v of %d, %+v", c.call.Op, c.call.Size, c.depth), func(t *testing.T) {
			t.Parallel()
			a, err := Lookup(c.call.Op, "eager")
			if err != nil {
				t.Fatal(err)
			}
			w := &world{call: &c.call, depth: c.depth, runs: c.runs, seen: map[string]bool{}}
			for r := range c.call.Size {
				w.plans = append(w.plans, schedule.Build(&c.call, r, a.Emit))
			}
			if err := w.explore(w.start()); err != nil {
				t.Errorf("after %d states: %v", len(w.seen), err)
			}
			t.Logf("%d states", len(w.seen))
			if c.call.Size > 2 {
				return
			}
			for _, s := range w.plans {
				for i := range s.Lanes {
					s.Lanes[i] = slices.DeleteFunc(s.Lanes[i], func(s schedule.Step) bool { return s.Kind == schedule.AwaitCredit })
				}
			}
			w.seen = map[string]bool{}
			if w.explore(w.start()) == nil {
				t.Error("without credits: nothing goes wrong")
			}
		})
	}
}
