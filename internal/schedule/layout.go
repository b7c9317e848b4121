package schedule

import (
	"fmt"
	"slices"
)

// A Piece says where n elements of a vector, from element At on, lie.
type Piece struct {
	At, Len int
	Buf     Buffer
	Off     int
}

// A Layout says where the elements of In, Out and further buffers of a rank
// really lie: the pieces of a vector in ascending order without gaps, or nil if
// it lies where it says. Algorithms think in vectors that begin at 0; a layout
// puts them in place, cuts them into segments, or sends them through scratch.
type Layout func(buf Buffer, rank int) []Piece

// Layout is where In and Out of the call lie when it is in place: one of the two
// is part of the other.
func (c *Call) Layout() Layout {
	if !c.InPlace && c.Op != Broadcast {
		return nil
	}
	return func(buf Buffer, rank int) []Piece {
		off, n := 0, 0
		switch c.Op {
		case AllGather, ReduceScatter, Gather, Scatter:
			off, n = c.Block(rank)
		}
		switch {
		case buf == In && (c.Op == AllGather || c.Op == Gather && rank == c.Root):
			return []Piece{{Len: n, Buf: Out, Off: off}}
		case buf == Out && (c.Op == ReduceScatter || c.Op == Scatter && rank == c.Root):
			return []Piece{{Len: n, Buf: In, Off: off}}
		case c.Op == AllReduce || c.Op == Broadcast || c.Op == Scan || c.Op == ExScan || c.Op == AllToAll,
			c.Op == Reduce && rank == c.Root:
			if buf == In {
				return []Piece{{Len: max(c.InLen(rank), c.OutLen(rank)), Buf: Out}}
			}
		}
		return nil
	}
}

// locate appends to dst the real regions of r, in order. It panics if the layout
// has no place for a part of r: the algorithm is wrong.
func (l Layout) locate(dst []Region, r Region) []Region {
	if l == nil || r.Buf < In {
		return append(dst, r)
	}
	pieces := l(r.Buf, int(r.Rank))
	if pieces == nil {
		return append(dst, r)
	}
	first, left := len(dst), r.Len
	for _, p := range pieces {
		from, to := max(r.Off, p.At), min(r.Off+r.Len, p.At+p.Len)
		if from < to {
			dst = append(dst, Region{Rank: r.Rank, Buf: p.Buf, Off: p.Off + from - p.At, Len: to - from})
			left -= to - from
		}
	}
	if left > 0 {
		panic(fmt.Sprintf("schedule: %d elements of %v lie nowhere", left, r))
	}
	if len(dst) == first { // an empty region lies somewhere too
		dst = append(dst, Region{Rank: r.Rank, Buf: pieces[0].Buf, Off: pieces[0].Off})
	}
	return dst
}

// move puts regions where they really lie, if they have one length and each lies
// in one piece, and reports whether they do; if not, none is moved.
func (l Layout) move(all []Region) bool {
	if l == nil {
		return !slices.ContainsFunc(all, func(r Region) bool { return r.Len != all[0].Len })
	}
	var room [16]Region
	moved := room[:0]
	for i, r := range all {
		moved = l.locate(moved, r)
		if len(moved) != i+1 || moved[i].Len != all[0].Len {
			return false
		}
	}
	copy(all, moved)
	return true
}

// within is a layout inside another: what inner says lies in buffers that outer
// places.
func within(outer, inner Layout) Layout {
	if outer == nil {
		return inner
	}
	if inner == nil {
		return outer
	}
	return func(buf Buffer, rank int) []Piece {
		mid := inner(buf, rank)
		if mid == nil {
			return outer(buf, rank)
		}
		var all []Piece
		for _, p := range mid {
			at := p.At
			for _, r := range outer.locate(nil, Region{Rank: int32(rank), Buf: p.Buf, Off: p.Off, Len: p.Len}) {
				all = append(all, Piece{At: at, Len: r.Len, Buf: r.Buf, Off: r.Off})
				at += r.Len
			}
		}
		return all
	}
}

// remembered is a layout that is asked for each vector once: what segments are
// made of is asked for in every step. It is for one goroutine at a time.
func remembered(l Layout) Layout {
	if l == nil {
		return nil
	}
	type answer struct {
		pieces []Piece
		known  bool
	}
	var answers [][]answer // by buffer, then by rank
	return func(buf Buffer, rank int) []Piece {
		for len(answers) <= int(buf) {
			answers = append(answers, nil)
		}
		of := answers[buf]
		if len(of) <= rank {
			of = append(of, make([]answer, rank+1-len(of))...)
			answers[buf] = of
		}
		if a := &of[rank]; !a.known {
			a.pieces, a.known = l(buf, rank), true
		}
		return of[rank].pieces
	}
}
