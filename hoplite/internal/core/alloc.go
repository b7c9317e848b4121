package core

import "slices"

// A rangeAllocator hands out ranges of a store, first fit. Ranges that are free next to
// each other are one.
type rangeAllocator struct {
	align int64
	free  []span // by offset, never adjacent, never empty
	used  int64
}

type span struct{ off, n int64 }

func newArena(capacity, align int64) rangeAllocator {
	a := rangeAllocator{align: align}
	if n := capacity / align * align; n > 0 {
		a.free = []span{{0, n}}
	}
	return a
}

func (a *rangeAllocator) round(n int64) int64 { return (n + a.align - 1) / a.align * a.align }

// alloc returns the offset of n bytes, n > 0.
func (a *rangeAllocator) alloc(n int64) (int64, bool) {
	n = a.round(n)
	for i := range a.free {
		s := &a.free[i]
		if s.n < n {
			continue
		}
		off := s.off
		s.off += n
		s.n -= n
		if s.n == 0 {
			a.free = slices.Delete(a.free, i, i+1)
		}
		a.used += n
		return off, true
	}
	return 0, false
}

// release gives back what alloc returned for n.
func (a *rangeAllocator) release(off, n int64) {
	n = a.round(n)
	a.used -= n
	i, _ := slices.BinarySearchFunc(a.free, off, func(s span, off int64) int { return int(min(max(s.off-off, -1), 1)) })
	if i > 0 && a.free[i-1].off+a.free[i-1].n > off || i < len(a.free) && off+n > a.free[i].off {
		panic("hoplite: a range of the store was given back twice")
	}
	a.free = slices.Insert(a.free, i, span{off, n})
	if i+1 < len(a.free) && off+n == a.free[i+1].off {
		a.free[i].n += a.free[i+1].n
		a.free = slices.Delete(a.free, i+1, i+2)
	}
	if i > 0 && a.free[i-1].off+a.free[i-1].n == off {
		a.free[i-1].n += a.free[i].n
		a.free = slices.Delete(a.free, i, i+1)
	}
}
