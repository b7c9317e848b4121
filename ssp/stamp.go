package ssp

import "math"

// final is the freshness of what can never change any more.
const final = math.MaxInt64

// A stamp says which contributions are in a partial result.
type stamp struct {
	fresh  int64 // lowest clock, where contributions of ranks that have closed count as final
	oldest int64 // lowest clock
	newest int64 // highest clock
	count  int64 // how many contributions; 0 if all its ranks closed without one
}

// merge is the stamp of two partial results combined.
func (s stamp) merge(t stamp) stamp {
	fresh := min(s.fresh, t.fresh)
	switch {
	case t.count == 0:
		s.fresh = fresh
		return s
	case s.count == 0:
		t.fresh = fresh
		return t
	}
	return stamp{
		fresh:  fresh,
		oldest: min(s.oldest, t.oldest),
		newest: max(s.newest, t.newest),
		count:  s.count + t.count,
	}
}

// A message is a header and the elements behind it, which are one transfer:
//
//	| seq: 8 bytes | freed: 8 | fresh: 8 | oldest: 8 | newest: 8 | count: 8 | 16 unused | n elements | pad to 64 |
//
// The elements start on a cache line of their own, as the kernels like them.
const headerSize = 64

const headerWords = headerSize / 8

// header is the beginning of a message as words, aliased.
type header []int64

func (h header) seq() int64   { return h[0] }
func (h header) freed() int64 { return h[1] }
func (h header) stamp() stamp { return stamp{fresh: h[2], oldest: h[3], newest: h[4], count: h[5]} }

func (h header) fill(seq, freed int64, s stamp) {
	h[0], h[1], h[2], h[3], h[4], h[5] = seq, freed, s.fresh, s.oldest, s.newest, s.count
}
