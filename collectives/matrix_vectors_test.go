package collectives_test

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/collectives/internal/oracle"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A bound is one rank's part of an instance: its buffers, what goes into them in
// each round, and what must come out.
type bound interface {
	fill(round int)
	call() collectives.Task
	check(round int) error
}

// vectors is a bound with elements of type T.
type vectors[T any] struct {
	oracle.Elements[T]
	x        *instance
	me       int
	seed     uint64
	src, dst []T
	more     [][]T
	blocks   []int // lengths, of all ranks
	own      int   // where this rank's block begins
	arriving []int // lengths of the blocks that an alltoall brings
	from     []int // where they begin in what the others send
	guards   []guard
	task     collectives.Task
}

// newVectors takes buffers for an instance from a member's memory.
func newVectors[T any](m *member, x *instance, copy int, e oracle.Elements[T]) *vectors[T] {
	v := &vectors[T]{Elements: e, x: x, me: m.rank, seed: x.seed + uint64(copy)*0x51afd7ed558ccd}
	total := 0
	for i := range x.ranks {
		v.blocks = append(v.blocks, x.block(i, 0))
		total += x.block(i, 0)
	}
	v.own = sumOf(v.blocks[:v.me])
	if x.op == schedule.AllToAll {
		v.surveyAllToAll()
	}
	in, out := x.count, x.count
	switch x.op {
	case schedule.AllGather, schedule.Gather:
		in, out = v.blocks[v.me], total
	case schedule.Scatter, schedule.ReduceScatter:
		in, out = total, v.blocks[v.me]
	case schedule.AllToAll:
		in, out = sumOf(v.sends()), sumOf(v.arriving)
	case schedule.Barrier:
		in, out = 0, 0
	}
	home := m.store(x.memory != plain)
	switch {
	case x.inPlace && x.op == schedule.ReduceScatter:
		v.src = take[T](home, &v.guards, in, x.longest(), x.shift)
		v.dst = v.src[v.own : v.own+out]
	case x.inPlace && x.op == schedule.AllGather:
		v.dst = take[T](home, &v.guards, out, x.longest(), x.shift)
		v.src = v.dst[v.own : v.own+in]
	case x.inPlace:
		v.dst = take[T](home, &v.guards, out, x.longest(), x.shift)
		v.src = v.dst
	default:
		v.src = take[T](home, &v.guards, in, x.longest(), x.shift)
		v.dst = take[T](m.store(x.memory == allocated), &v.guards, out, x.longest(), x.shift+1)
	}
	for range x.vectors - 1 {
		v.more = append(v.more, take[T](home, &v.guards, max(in, out), x.longest(), x.shift))
	}
	return v
}

// sends is the lengths of the blocks that this rank sends in an alltoall.
func (v *vectors[T]) sends() []int {
	var all []int
	for j := range v.x.ranks {
		all = append(all, v.x.block(v.me, j))
	}
	return all
}

// surveyAllToAll finds out which blocks come from where.
func (v *vectors[T]) surveyAllToAll() {
	for i := range v.x.ranks {
		before := 0
		for j := range v.me {
			before += v.x.block(i, j)
		}
		v.from = append(v.from, before)
		v.arriving = append(v.arriving, v.x.block(i, v.me))
	}
}

func sumOf(counts []int) int {
	n := 0
	for _, k := range counts {
		n += k
	}
	return n
}

// given is a buffer as a rank passes it that may leave it out: nil, now and then,
// unless it counts or some buffer lies where all must give it.
func (v *vectors[T]) given(buf []T, counts bool) []T {
	if !counts && v.x.memory == plain && (v.seed+uint64(v.me))%2 == 0 {
		return nil
	}
	return buf
}

func (v *vectors[T]) call() collectives.Task { return v.task }

// parts is how many contributions there are.
func (v *vectors[T]) parts() int { return v.x.ranks * v.x.vectors }

// in is element i of vector k of a rank.
func (v *vectors[T]) in(round, rank, k, i int) T {
	return v.In(oracle.Place{Seed: v.seed, Round: round, Part: rank*v.x.vectors + k, Index: i}, v.parts())
}

// junk is what lies in element i of a result before the call.
func (v *vectors[T]) junk(round, i int) T {
	return v.In(oracle.Place{Seed: ^v.seed, Round: round, Part: v.me, Index: i}, v.parts())
}

// folded is element i of the fold of ranks 0 to n-1.
func (v *vectors[T]) folded(round, n, i int) T {
	return v.Folded(oracle.Place{Seed: v.seed, Round: round, Index: i}, 0, n*v.x.vectors, v.parts())
}

func (v *vectors[T]) fill(round int) {
	for i := range v.dst {
		v.dst[i] = v.junk(round, i)
	}
	for i := range v.src {
		v.src[i] = v.in(round, v.me, 0, i)
	}
	for k, more := range v.more {
		for i := range more {
			more[i] = v.in(round, v.me, k+1, i)
		}
	}
}

func (v *vectors[T]) check(round int) error {
	want := func(i int) (T, bool) { return v.want(round, i) }
	if common := v.common(round); common != nil {
		want = func(i int) (T, bool) { return common[i], true }
	}
	if s, bad := v.Differ(v.dst, want); bad {
		return fmt.Errorf("rank %d, round %d: result: %s", v.me, round, s)
	}
	for k, more := range v.more {
		wanted := want
		if v.x.op == schedule.ReduceScatter {
			wanted = func(i int) (T, bool) { return v.in(round, v.me, k+1, i), true }
		}
		if s, bad := v.Differ(more, wanted); bad {
			return fmt.Errorf("rank %d, round %d: vector %d: %s", v.me, round, k+1, s)
		}
	}
	if !v.x.inPlace {
		if s, bad := v.Differ(v.src, func(i int) (T, bool) { return v.in(round, v.me, 0, i), true }); bad {
			return fmt.Errorf("rank %d, round %d: source was written: %s", v.me, round, s)
		}
	}
	for _, g := range v.guards {
		if !g.intact() {
			return fmt.Errorf("rank %d, round %d: memory beside a buffer was written", v.me, round)
		}
	}
	return nil
}

// want is element i of the result, where it is not common.
func (v *vectors[T]) want(round, i int) (T, bool) {
	x := v.x
	untouched := func() T {
		if x.inPlace {
			return v.in(round, v.me, 0, i)
		}
		return v.junk(round, i)
	}
	switch x.op {
	case schedule.Reduce:
		if v.me != x.root {
			return untouched(), true
		}
		return v.folded(round, x.ranks, i), true
	case schedule.ReduceScatter:
		return v.folded(round, x.ranks, v.own+i), true
	case schedule.ExScan: // of rank 0: that of others is common
		return untouched(), true
	case schedule.Scatter:
		return v.in(round, x.root, 0, v.own+i), true
	case schedule.Gather:
		if v.me != x.root {
			return untouched(), true
		}
		r, k := find(v.blocks, i)
		return v.in(round, r, 0, k), true
	case schedule.AllToAll:
		r, k := find(v.arriving, i)
		return v.in(round, r, 0, v.from[r]+k), true
	}
	for k := range x.exchanges() { // Exchange
		if chunk := (schedule.Range{Off: x.exchangeAt(k), Len: x.exchangeAt(k+1) - x.exchangeAt(k)}); i >= chunk.Off && i < chunk.Off+chunk.Len {
			if partner := v.me ^ 1<<k; partner < x.ranks {
				return v.in(round, partner, 0, i), true
			}
		}
	}
	return untouched(), true
}

// exchangeAt is where the part of round k begins: the first parts are longer by
// one if the vector does not divide.
func (x *instance) exchangeAt(k int) int {
	rounds := x.exchanges()
	return x.count/rounds*k + min(k, x.count%rounds)
}

// find is the block in which element i lies, and where in it.
func find(blocks []int, i int) (block, at int) {
	for b, n := range blocks {
		if i < n {
			return b, i
		}
		i -= n
	}
	panic("an element beyond the last block")
}
