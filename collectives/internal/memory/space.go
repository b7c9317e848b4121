package memory

import "slices"

// A space is a range of numbers, parts of which are taken.
type space struct {
	from, to uint64
	used     []span // ascending, apart
}

type span struct{ from, to uint64 }

// gap is where n numbers in a row are free. The end comes first: before the first
// sweep nothing is free elsewhere.
func (s *space) gap(n uint64) (at uint64, index int, ok bool) {
	end := s.from
	if k := len(s.used); k > 0 {
		end = s.used[k-1].to
	}
	if n <= s.to-end {
		return end, len(s.used), true
	}
	at = s.from
	for i, u := range s.used {
		if u.from-at >= n {
			return at, i, true
		}
		at = u.to
	}
	return 0, 0, false
}

func (s *space) fits(n uint64) bool {
	_, _, ok := s.gap(n)
	return ok
}

// take takes n numbers that fit.
func (s *space) take(n uint64) uint64 {
	at, i, ok := s.gap(n)
	if !ok {
		panic("memory: a claim that does not fit")
	}
	s.used = slices.Insert(s.used, i, span{at, at + n})
	return at
}

// hold takes given numbers.
func (s *space) hold(at, n uint64) {
	i, _ := slices.BinarySearchFunc(s.used, at, func(u span, at uint64) int { return int(int64(u.from - at)) })
	s.used = slices.Insert(s.used, i, span{at, at + n})
}

func (s *space) free() uint64 {
	n := s.to - s.from
	for _, u := range s.used {
		n -= u.to - u.from
	}
	return n
}

func (s *space) eachFree(f func(from, to uint64)) {
	at := s.from
	for _, u := range s.used {
		f(at, u.from)
		at = u.to
	}
	f(at, s.to)
}
