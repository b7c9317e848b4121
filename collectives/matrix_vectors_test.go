package collectives_test

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/collectives/internal/oracle"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// vectors are one rank's part of an instance: its buffers, what goes into them in each
// round, and what must come out.
type vectors struct {
	operands
	x      *instance
	me     int
	seed   uint64
	blocks []int // lengths, of all ranks
	own    int   // where this rank's block begins
	from   []int // where the blocks that an alltoall brings begin in what the others send
	guards []guard
	spare  []byte // for what is wanted
	call   collectives.Task
}

// bind takes buffers for one of several copies of an instance, and makes its call.
func (m *member) bind(ctx context.Context, x *instance, copy int) (*vectors, error) {
	v := &vectors{x: x, me: m.rank, seed: x.seed + uint64(copy)*0x51afd7ed558ccd}
	v.operands = operands{team: m.team, op: x.op, root: x.root, rounds: x.exchanges(), inPlace: x.inPlace, opts: x.options()}
	for i := range x.ranks {
		v.blocks = append(v.blocks, x.block(i, 0))
	}
	v.own = sumOf(v.blocks[:v.me])
	if x.uneven {
		v.counts = v.blocks
	}
	if x.op == schedule.AllToAll {
		v.surveyAllToAll()
	}
	v.takeBuffers(m)
	o := v.operands
	o.dst = v.given(v.dst, x.op == schedule.Gather || x.op == schedule.Reduce && !x.inPlace)
	o.src = v.given(v.src, x.op == schedule.Scatter)
	var err error
	v.call, err = x.kind.task(ctx, &o)
	return v, err
}

// takeBuffers takes the buffers from a member's memory.
func (v *vectors) takeBuffers(m *member) {
	x := v.x
	in, out := v.lengths(x.count, v.blocks[v.me], sumOf(v.blocks))
	home := m.store(x.memory != plain)
	take := func(s *store, n, shift int) []byte { return s.take(&v.guards, n, x.longest(), shift, x.kind.size) }
	switch {
	case x.inPlace && x.op == schedule.ReduceScatter:
		v.src = take(home, in, x.shift)
		v.dst = v.part(v.src, v.own, out)
	case x.inPlace:
		v.dst = take(home, out, x.shift)
		if v.src = v.dst; x.op == schedule.AllGather {
			v.src = v.part(v.dst, v.own, in)
		}
	default:
		v.src = take(home, in, x.shift)
		v.dst = take(m.store(x.memory == allocated), out, x.shift+1)
	}
	for range x.vectors - 1 {
		v.more = append(v.more, take(home, max(in, out), x.shift))
	}
}

// part is n elements of a buffer, from one on.
func (v *vectors) part(mem []byte, from, n int) []byte {
	size := v.x.kind.size
	return mem[from*size : (from+n)*size]
}

// surveyAllToAll finds out which blocks go where, and come from where.
func (v *vectors) surveyAllToAll() {
	for i := range v.x.ranks {
		before := 0
		for j := range v.me {
			before += v.x.block(i, j)
		}
		v.from = append(v.from, before)
		v.sends = append(v.sends, v.x.block(v.me, i))
		v.receives = append(v.receives, v.x.block(i, v.me))
	}
}

func sumOf(counts []int) int {
	n := 0
	for _, k := range counts {
		n += k
	}
	return n
}

// given is a buffer as a rank passes it that may leave it out where only the root's counts: nil, now
// and then, unless some buffer lies where all must give it.
func (v *vectors) given(buf []byte, ofRoot bool) []byte {
	if ofRoot && v.me != v.root && v.x.memory == plain && (v.seed+uint64(v.me))%2 == 0 {
		return nil
	}
	return buf
}

// parts is how many contributions there are.
func (v *vectors) parts() int { return v.x.ranks * v.x.vectors }

// place is where an element stands in vector k of a rank.
func (v *vectors) place(round, rank, k, i int) oracle.Place {
	return oracle.Place{Seed: v.seed, Round: round, Part: rank*v.x.vectors + k, Index: i}
}

// inputs makes elements of a vector of a rank, from one on.
func (v *vectors) inputs(dst []byte, round, rank, k, from int) {
	v.x.kind.Inputs(dst, v.place(round, rank, k, from), v.parts())
}

// junk makes what lies in a result before the call.
func (v *vectors) junk(dst []byte, round int) {
	v.x.kind.Inputs(dst, oracle.Place{Seed: ^v.seed, Round: round, Part: v.me}, v.parts())
}

// folded makes elements of the fold of all ranks, from one on.
func (v *vectors) folded(dst []byte, round, from int) {
	at := v.place(round, 0, 0, from)
	v.x.kind.Inputs(dst, at, v.parts())
	for at.Part++; at.Part < v.parts(); at.Part++ {
		v.x.kind.Add(dst, at, v.parts())
	}
}

func (v *vectors) fill(round int) {
	v.junk(v.dst, round)
	v.inputs(v.src, round, v.me, 0, 0)
	for k, more := range v.more {
		v.inputs(more, round, v.me, k+1, 0)
	}
}

func (v *vectors) check(round int) error {
	wrong := func(what, why string) error { return fmt.Errorf("rank %d, round %d: %s: %s", v.me, round, what, why) }
	want := v.common(round)
	if want == nil {
		want = v.wanted(v.dst)
		v.want(want, round)
	}
	if s, bad := v.x.kind.Differ(v.dst, want); bad {
		return wrong("result", s)
	}
	for k, more := range v.more {
		if v.op == schedule.ReduceScatter {
			want = v.wanted(more)
			v.inputs(want, round, v.me, k+1, 0)
		}
		if s, bad := v.x.kind.Differ(more, want); bad {
			return wrong(fmt.Sprint("vector ", k+1), s)
		}
	}
	if !v.inPlace {
		want = v.wanted(v.src)
		v.inputs(want, round, v.me, 0, 0)
		if s, bad := v.x.kind.Differ(v.src, want); bad {
			return wrong("source was written", s)
		}
	}
	for _, g := range v.guards {
		if !g.intact() {
			return wrong("guards", "memory beside a buffer was written")
		}
	}
	return nil
}

// wanted is memory for what must be in a buffer. It is the same each time.
func (v *vectors) wanted(buf []byte) []byte {
	if cap(v.spare) < len(buf) {
		v.spare = aligned(len(buf))
	}
	return v.spare[:len(buf)]
}

// untouched makes what is in a result that the call does not write.
func (v *vectors) untouched(dst []byte, round int) {
	if v.inPlace {
		v.inputs(dst, round, v.me, 0, 0)
		return
	}
	v.junk(dst, round)
}

// want makes the result, where it is not common.
func (v *vectors) want(dst []byte, round int) {
	x := v.x
	switch {
	case x.op == schedule.ReduceScatter:
		v.folded(dst, round, v.own)
	case x.op == schedule.Scatter:
		v.inputs(dst, round, x.root, 0, v.own)
	case x.op == schedule.AllToAll:
		for r, at := 0, 0; r < x.ranks; r++ {
			v.inputs(v.part(dst, at, v.receives[r]), round, r, 0, v.from[r])
			at += v.receives[r]
		}
	case x.op == schedule.Reduce && v.me == x.root:
		v.folded(dst, round, 0)
	case x.op == schedule.Gather && v.me == x.root:
		v.gathered(dst, round)
	default: // ExScan of rank 0, where that of others is common
		v.untouched(dst, round)
	}
	for k := range x.exchanges() {
		if partner := v.me ^ 1<<k; x.op == schedule.Exchange && partner < x.ranks {
			from := x.exchangeAt(k)
			v.inputs(v.part(dst, from, x.exchangeAt(k+1)-from), round, partner, 0, from)
		}
	}
}

// gathered makes the blocks of all ranks.
func (v *vectors) gathered(dst []byte, round int) {
	at := 0
	for r, n := range v.blocks {
		v.inputs(v.part(dst, at, n), round, r, 0, 0)
		at += n
	}
}

// exchangeAt is where the part of round k begins: the first parts are longer by
// one if the vector does not divide.
func (x *instance) exchangeAt(k int) int {
	rounds := x.exchanges()
	return x.count/rounds*k + min(k, x.count%rounds)
}
