package limit

import (
	"math"
	"math/bits"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// This file says what each rank must do at least for a collective operation, as
// data: reads, folds and writes of parts of everybody's vectors. The limits of
// collective operations do nothing else.

// A Piece is part of a vector of a rank, in bytes.
type Piece struct {
	Rank   int
	out    bool // of the result, not of what the rank contributes
	Off, N int
}

// A Move stores the fold of src, in their order, in all of dst.
type Move struct{ Dst, Src []Piece }

// A CallShape is a collective call as far as it says who moves what.
type CallShape struct {
	Op      schedule.Operation
	Ranks   int
	Root    int
	In, Out int    // bytes of the vectors
	block   int    // bytes of a block, of operations that have blocks
	kept    int    // bytes that a threshold leaves of a vector
	Engaged []bool // who contributes; nil for all
	Element int    // bytes of an element
}

// NewShape completes the shape of a call for vectors of about so many bytes, of a block in
// an AllToAll. It is of the operation, ranks, root and element of call. A threshold leaves
// that part of a vector; 0 leaves all of it.
func NewShape(call CallShape, bytes uint64, threshold float64) *CallShape {
	s := &call
	count := max(1, int(bytes)/s.Element)
	vector := count * s.Element
	if s.Op.Blockwise() {
		if s.Op != schedule.AllToAll {
			count = max(1, count/s.Ranks)
		}
		s.block = count * s.Element
		vector = s.block * s.Ranks
	}
	s.In, s.Out = vector, vector
	switch s.Op {
	case schedule.AllGather, schedule.Gather:
		s.In = s.block
	case schedule.ReduceScatter, schedule.Scatter:
		s.Out = s.block
	case schedule.Barrier:
		s.In, s.Out = 0, 0
	}
	s.kept = s.In
	if threshold > 0 {
		s.kept = int(math.Ceil(threshold*float64(count))) * s.Element
	}
	return s
}

// Partners is how many partners a rank has in an exchange.
func Partners(ranks int) int { return max(1, bits.Len(uint(ranks-1))) }

// contributors are n bytes from off of what ranks from first to last contribute.
func (s *CallShape) contributors(first, last, off, n int) []Piece {
	var all []Piece
	for r := first; r <= last; r++ {
		if s.Engaged == nil || s.Engaged[r] {
			all = append(all, Piece{r, false, off, n})
		}
	}
	return all
}

// Whole is what makes the result of a rank from what all contribute, if nobody
// does any of it for another.
func (s *CallShape) Whole(me int) []Move {
	last := s.Ranks - 1
	one := func(off, n int, src ...Piece) Move { return Move{[]Piece{{me, true, off, n}}, src} }
	var all []Move
	switch s.Op {
	case schedule.AllReduce:
		all = append(all, one(0, s.kept, s.contributors(0, last, 0, s.kept)...))
	case schedule.Reduce:
		if me == s.Root {
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
		if me != s.Root {
			all = append(all, one(0, s.kept, Piece{s.Root, false, 0, s.kept}))
		}
	case schedule.Scatter:
		all = append(all, one(0, s.block, Piece{s.Root, false, me * s.block, s.block}))
	case schedule.AllGather, schedule.Gather:
		for r := range s.Ranks {
			if s.Op == schedule.AllGather || me == s.Root {
				all = append(all, one(r*s.block, s.block, Piece{r, false, 0, s.block}))
			}
		}
	case schedule.AllToAll:
		for r := range s.Ranks {
			all = append(all, one(r*s.block, s.block, Piece{r, false, me * s.block, s.block}))
		}
	case schedule.Exchange:
		all = s.partners(me)
	}
	return all
}

// partners are the moves of a rank in an exchange.
func (s *CallShape) partners(me int) []Move {
	var all []Move
	count := s.kept / s.Element
	for k := range Partners(s.Ranks) {
		if peer := me ^ 1<<k; peer < s.Ranks {
			part := schedule.Chunk(count, Partners(s.Ranks), k)
			off, n := part.Off*s.Element, part.Len*s.Element
			all = append(all, Move{[]Piece{{me, true, off, n}}, []Piece{{peer, false, off, n}}})
		}
	}
	return all
}

// shares is the same work for all ranks, divided among them as evenly as it can
// be. Where a vector is the result as well as the contribution, no rank reads what
// another writes.
func (s *CallShape) shares(me int) []Move {
	return slices.DeleteFunc(s.divided(me), func(m Move) bool { return len(m.Dst) == 0 || m.Dst[0].N == 0 })
}

func (s *CallShape) divided(me int) []Move {
	lo, n := s.share(me)
	last := s.Ranks - 1
	switch s.Op {
	case schedule.AllReduce:
		m := Move{Src: s.contributors(0, last, lo, n)}
		for r := range s.Ranks {
			m.Dst = append(m.Dst, Piece{r, true, lo, n})
		}
		return []Move{m}
	case schedule.Reduce:
		return []Move{{[]Piece{{s.Root, true, lo, n}}, s.contributors(0, last, lo, n)}}
	case schedule.Broadcast:
		m := Move{Src: []Piece{{s.Root, false, lo, n}}}
		for r := range s.Ranks {
			if r != s.Root {
				m.Dst = append(m.Dst, Piece{r, true, lo, n})
			}
		}
		return []Move{m}
	case schedule.Scan:
		var all []Move
		for r := 1; r < s.Ranks; r++ {
			all = append(all, Move{[]Piece{{r, true, lo, n}}, []Piece{{r - 1, true, lo, n}, {r, false, lo, n}}})
		}
		return all
	case schedule.ExScan:
		var all []Move
		for r := last; r > 0; r-- { // each before what it reads is written
			all = append(all, Move{[]Piece{{r, true, lo, n}}, s.contributors(0, r-1, lo, n)})
		}
		return all
	case schedule.Gather:
		return []Move{{[]Piece{{s.Root, true, me * s.block, s.block}}, []Piece{{me, false, 0, s.block}}}}
	}
	return s.Whole(me)
}

// share is the part of the vector that a rank does for all.
func (s *CallShape) share(me int) (off, n int) {
	cut := func(i int) int {
		return min(s.kept, int(RoundUp(uint64(s.kept)*uint64(i)/uint64(s.Ranks), CacheLine)))
	}
	return cut(me), cut(me+1) - cut(me)
}

const CacheLine = 64 // a multiple of every element

// Count is how many elements a vector has, or a block where there are blocks.
func (s *CallShape) Count() int {
	if s.Op.Blockwise() {
		return s.block / s.Element
	}
	return s.In / s.Element
}

// Bytes are those that the row of a call names.
func (s *CallShape) Bytes() uint64 {
	if s.Op == schedule.AllToAll {
		return uint64(s.block)
	}
	return uint64(max(s.In, s.Out))
}

// InPlace reports whether the result takes the place of the contribution.
func (s *CallShape) InPlace() bool {
	return slices.Contains([]schedule.Operation{
		schedule.AllReduce, schedule.Reduce, schedule.Broadcast, schedule.Scan, schedule.ExScan, schedule.Barrier,
	}, s.Op)
}
