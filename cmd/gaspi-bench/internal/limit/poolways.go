package limit

import (
	"context"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// This file says which ways of a pooling are tried, and where in the boxes what
// lies.

// Bytes of a move in a round: with less, flags cost more than near caches gain; with
// more, boxes leave the second-level cache.
const (
	leastPart = 8 << 10
	mostPart  = 64 << 10
)

// poolWays are the ways to do a call: all of it by each rank for itself, or in shares
// where these are other moves, in parts of some lengths, with and without a round's
// time for what is given or folded to arrive.
func (s *CallShape) poolWays() []poolWay {
	divisions := []poolWay{{moves: s.Whole}}
	switch s.Op {
	case schedule.AllReduce, schedule.Reduce:
		divisions = append(divisions, poolWay{moves: s.shares, back: true})
	case schedule.Broadcast:
		divisions = append(divisions, poolWay{moves: s.shares})
	}
	var ways []poolWay
	for _, w := range divisions {
		for w.part = leastPart; w.part <= mostPart; w.part *= 2 {
			w.ahead = 0
			ways = append(ways, w)
			if w.part >= s.longest(w.moves) { // all in one round
				break
			}
			w.ahead = 1
			ways = append(ways, w)
		}
	}
	return ways
}

// longest is the length of the longest move of any rank.
func (s *CallShape) longest(moves func(rank int) []Move) int {
	n := 0
	for r := range s.Ranks {
		for _, m := range moves(r) {
			n = max(n, m.Dst[0].N)
		}
	}
	return n
}

// plainWays is the limit of a call on vectors that peers cannot reach.
func (b *Memory) plainWays(ctx context.Context, t *collectives.Team, s *CallShape, own Buffers, f Folds) (*Vectors, []BareCall, func(context.Context) error, error) {
	ways := s.poolWays()
	size := 1
	for _, w := range ways {
		for r := range s.Ranks {
			size = max(size, w.slots()*w.layout(s, r).size)
		}
	}
	mem, err := collectives.Alloc[byte](ctx, t, size)
	if err != nil {
		return nil, nil, nil, err
	}
	release := func(ctx context.Context) error { return collectives.Release(ctx, t, mem) }
	pool := &pool{}
	for r := range s.Ranks {
		box, err := b.vectorOf(gaspi.Rank(r), mem)
		if err != nil {
			return nil, nil, nil, err
		}
		pool.mem = append(pool.mem, box)
	}
	v := s.alone(int(b.P.Rank()), own)
	var calls []BareCall
	for _, w := range ways {
		p, err := newPooling(b, s, pool, w, v, f)
		if err != nil {
			return nil, nil, nil, err
		}
		calls = append(calls, p.call)
	}
	return v, calls, release, nil
}

// alone is the vectors of all ranks as one reaches them that has only its own.
func (s *CallShape) alone(me int, own Buffers) *Vectors {
	v := &Vectors{In: make([][]byte, s.Ranks), out: make([][]byte, s.Ranks)}
	v.In[me], v.out[me] = own.In, own.Out
	return v
}

// A boxLayout is where in a slot of a rank's boxes is what it gives and what it folds
// for others, the same in all slots.
type boxLayout struct {
	given  map[Piece]int // what it gives, by what that is of its vector
	order  []Piece       // the same
	folded []int         // the results of its moves, -1 for those that need no place
	size   int
}

func (w poolWay) layout(s *CallShape, rank int) boxLayout {
	l := boxLayout{given: make(map[Piece]int)}
	place := func(n int) int {
		at := l.size
		l.size += int(RoundUp(uint64(min(n, w.part)), CacheLine))
		return at
	}
	for r := range s.Ranks {
		if r == rank {
			continue
		}
		for _, m := range w.moves(r) {
			for _, p := range m.Src {
				if _, ok := l.given[p]; p.Rank == rank && !ok {
					l.given[p], l.order = place(p.N), append(l.order, p)
				}
			}
		}
	}
	for _, m := range w.moves(rank) {
		at := -1
		if slices.ContainsFunc(m.Dst, func(p Piece) bool { return p.Rank != rank && !w.returns(p, m) }) {
			at = place(m.Dst[0].N)
		}
		l.folded = append(l.folded, at)
	}
	return l
}

// box is n bytes, or a part, at a place of the boxes of a rank, in each slot.
func (p *pooling) box(rank, at, n int) [][]byte {
	var all [][]byte
	for slot := range p.way.slots() {
		from := slot*p.layouts[rank].size + at
		all = append(all, p.pool.mem[rank][from:from+min(n, p.way.part)])
	}
	return all
}

// newPooling binds a way to the vectors of this rank.
func newPooling(b *Memory, s *CallShape, pool *pool, w poolWay, v *Vectors, f Folds) (*pooling, error) {
	p := &pooling{worker: newWorker(f), b: b, pool: pool, way: w}
	p.rounds = (s.longest(w.moves) + w.part - 1) / w.part
	me := int(b.P.Rank())
	for r := range s.Ranks {
		p.layouts = append(p.layouts, w.layout(s, r))
	}
	mine := &p.layouts[me]
	for _, part := range mine.order {
		p.gives = append(p.gives, passage{v.piece(part), p.box(me, mine.given[part], part.N)})
	}
	for i, m := range w.moves(me) {
		p.folds = append(p.folds, p.bind(v, me, m, mine.folded[i]))
	}
	for r := range s.Ranks {
		for i, m := range w.moves(r) {
			for _, d := range m.Dst {
				if r != me && d.Rank == me {
					p.takes = append(p.takes, passage{v.piece(d), p.result(r, d, m, p.layouts[r].folded[i])})
				}
			}
		}
	}
	return p, p.connect(s)
}

// bind is a move of this rank, whose result for others has a place if it needs one.
func (p *pooling) bind(v *Vectors, me int, m Move, place int) sum {
	f := sum{n: m.Dst[0].N}
	for _, d := range m.Dst {
		if d.Rank == me {
			f.dst.own = append(f.dst.own, v.piece(d))
		} else if p.way.returns(d, m) {
			f.dst.boxes = append(f.dst.boxes, p.result(me, d, m, place))
		}
	}
	if place >= 0 {
		f.dst.boxes = append(f.dst.boxes, p.box(me, place, f.n))
	}
	for _, src := range m.Src {
		if src.Rank == me {
			f.src.own = append(f.src.own, v.piece(src))
		} else {
			f.src.boxes = append(f.src.boxes, p.box(src.Rank, p.layouts[src.Rank].given[src], f.n))
		}
	}
	f.late = len(m.Src) > 2 && len(f.dst.own) == 0 && place < 0
	f.back = len(m.Src) == 2 && place < 0 && len(f.dst.own) == 1 && len(f.dst.boxes) == 1
	return f
}

// result is where the result of a move of rank r is for others, of which d is one.
func (p *pooling) result(r int, d Piece, m Move, place int) [][]byte {
	if p.way.returns(d, m) {
		place, r = p.layouts[d.Rank].given[contribution(d)], d.Rank
	}
	return p.box(r, place, d.N)
}

// returns reports whether the result of a move for another rank goes to where that
// rank gave what it contributes.
func (w poolWay) returns(d Piece, m Move) bool {
	return w.back && slices.Contains(m.Src, contribution(d))
}

// contribution is the same part of what a rank contributes as d is of its result.
func contribution(d Piece) Piece { return Piece{d.Rank, false, d.Off, d.N} }

// connect finds the flags that a way needs. A rank that gives to the one that folds for it
// thereby acknowledges what it has taken.
func (p *pooling) connect(s *CallShape) error {
	me := int(p.b.P.Rank())
	for r := range s.Ranks {
		if r == me {
			continue
		}
		reads, writes := touched(p.way.moves(me), r)
		read, written := touched(p.way.moves(r), me)
		for _, f := range []struct {
			at         uint64
			tell, hear bool
			there      *[]Flag
			here       *[]Flag
		}{
			{boxReady, read, reads, &p.tellGave, &p.given},
			{boxDone, reads || writes, written, &p.tellFolded, &p.folded},
			{boxDone, false, read, nil, &p.used},
			{boxCredit, written && !read, writes && !reads, &p.tellTook, &p.took},
		} {
			var here, there []Flag
			if err := p.b.pair(0, r, f.at, f.at, &here, &there); err != nil {
				return err
			}
			if f.tell {
				*f.there = append(*f.there, there...)
			}
			if f.hear {
				*f.here = append(*f.here, here...)
			}
		}
	}
	return nil
}

// touched reports whether moves read of what rank r contributes, and whether they
// write to it.
func touched(moves []Move, r int) (read, written bool) {
	of := func(p Piece) bool { return p.Rank == r && p.N > 0 }
	for _, m := range moves {
		read = read || slices.ContainsFunc(m.Src, of)
		written = written || slices.ContainsFunc(m.Dst, of)
	}
	return read, written
}
