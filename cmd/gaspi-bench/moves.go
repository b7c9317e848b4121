package main

import (
	"math/bits"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// This file says what each rank must do at least for a collective operation, as
// data: reads, folds and writes of parts of everybody's vectors. The limits of
// collective operations do nothing else.

// A piece is part of a vector of a rank, in bytes.
type piece struct {
	rank   int
	out    bool // of the result, not of what the rank contributes
	off, n int
}

// A move stores the fold of src, in their order, in all of dst.
type move struct{ dst, src []piece }

// A shape is a collective call as far as it says who moves what.
type shape struct {
	op      schedule.Operation
	ranks   int
	root    int
	in, out int    // bytes of the vectors
	block   int    // bytes of a block, of operations that have blocks
	kept    int    // bytes that a threshold leaves of a vector
	engaged []bool // who contributes; nil for all
	element int    // bytes of an element
}

// rounds is how many partners a rank has in an exchange.
func rounds(ranks int) int { return max(1, bits.Len(uint(ranks-1))) }

// contributors are n bytes from off of what ranks from first to last contribute.
func (s *shape) contributors(first, last, off, n int) []piece {
	var all []piece
	for r := first; r <= last; r++ {
		if s.engaged == nil || s.engaged[r] {
			all = append(all, piece{r, false, off, n})
		}
	}
	return all
}

// whole is what makes the result of a rank from what all contribute, if nobody
// does any of it for another.
func (s *shape) whole(me int) []move {
	last := s.ranks - 1
	one := func(off, n int, src ...piece) move { return move{[]piece{{me, true, off, n}}, src} }
	var all []move
	switch s.op {
	case schedule.AllReduce:
		all = append(all, one(0, s.kept, s.contributors(0, last, 0, s.kept)...))
	case schedule.Reduce:
		if me == s.root {
			all = append(all, one(0, s.kept, s.contributors(0, last, 0, s.kept)...))
		}
	case schedule.ReduceScatter:
		all = append(all, one(0, s.block, s.contributors(0, last, me*s.block, s.block)...))
	case schedule.Scan:
		all = append(all, one(0, s.kept, s.contributors(0, me, 0, s.kept)...))
	case schedule.ExScan:
		if me > 0 {
			all = append(all, one(0, s.kept, s.contributors(0, me-1, 0, s.kept)...))
		}
	case schedule.Broadcast:
		if me != s.root {
			all = append(all, one(0, s.kept, piece{s.root, false, 0, s.kept}))
		}
	case schedule.Scatter:
		all = append(all, one(0, s.block, piece{s.root, false, me * s.block, s.block}))
	case schedule.AllGather, schedule.Gather:
		for r := range s.ranks {
			if s.op == schedule.AllGather || me == s.root {
				all = append(all, one(r*s.block, s.block, piece{r, false, 0, s.block}))
			}
		}
	case schedule.AllToAll:
		for r := range s.ranks {
			all = append(all, one(r*s.block, s.block, piece{r, false, me * s.block, s.block}))
		}
	case schedule.Exchange:
		all = s.partners(me)
	}
	return all
}

// partners are the moves of a rank in an exchange.
func (s *shape) partners(me int) []move {
	var all []move
	count := s.kept / s.element
	for k := range rounds(s.ranks) {
		if peer := me ^ 1<<k; peer < s.ranks {
			part := schedule.Chunk(count, rounds(s.ranks), k)
			off, n := part.Off*s.element, part.Len*s.element
			all = append(all, move{[]piece{{me, true, off, n}}, []piece{{peer, false, off, n}}})
		}
	}
	return all
}

// shares is the same work for all ranks, divided among them as evenly as it can
// be. Where a vector is the result as well as the contribution, no rank reads what
// another writes.
func (s *shape) shares(me int) []move {
	return slices.DeleteFunc(s.divided(me), func(m move) bool { return len(m.dst) == 0 || m.dst[0].n == 0 })
}

func (s *shape) divided(me int) []move {
	lo, n := s.share(me)
	last := s.ranks - 1
	switch s.op {
	case schedule.AllReduce:
		m := move{src: s.contributors(0, last, lo, n)}
		for r := range s.ranks {
			m.dst = append(m.dst, piece{r, true, lo, n})
		}
		return []move{m}
	case schedule.Reduce:
		return []move{{[]piece{{s.root, true, lo, n}}, s.contributors(0, last, lo, n)}}
	case schedule.Broadcast:
		m := move{src: []piece{{s.root, false, lo, n}}}
		for r := range s.ranks {
			if r != s.root {
				m.dst = append(m.dst, piece{r, true, lo, n})
			}
		}
		return []move{m}
	case schedule.Scan:
		var all []move
		for r := 1; r < s.ranks; r++ {
			all = append(all, move{[]piece{{r, true, lo, n}}, []piece{{r - 1, true, lo, n}, {r, false, lo, n}}})
		}
		return all
	case schedule.ExScan:
		var all []move
		for r := last; r > 0; r-- { // each before what it reads is written
			all = append(all, move{[]piece{{r, true, lo, n}}, s.contributors(0, r-1, lo, n)})
		}
		return all
	case schedule.Gather:
		return []move{{[]piece{{s.root, true, me * s.block, s.block}}, []piece{{me, false, 0, s.block}}}}
	}
	return s.whole(me)
}

// share is the part of the vector that a rank does for all.
func (s *shape) share(me int) (off, n int) {
	cut := func(i int) int {
		return min(s.kept, int(roundUp(uint64(s.kept)*uint64(i)/uint64(s.ranks), cacheLine)))
	}
	return cut(me), cut(me+1) - cut(me)
}

const cacheLine = 64 // a multiple of every element
