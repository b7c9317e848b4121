// Package arena hands out ranges of the memory of a store. It knows the offsets of ranges, and
// neither the memory nor what lies in it.
package arena

import "slices"

// An Arena hands out ranges of a store, first fit. Ranges that are free next to
// each other are one.
type Arena struct {
	align int64
	free  []Extent // by offset, never adjacent, never empty
	used  int64
}

// An Extent is N bytes from Off on.
type Extent struct{ Off, N int64 }

// New returns an arena of capacity bytes, in which ranges begin at multiples of align.
func New(capacity, align int64) Arena {
	a := Arena{align: align}
	if n := capacity / align * align; n > 0 {
		a.free = []Extent{{0, n}}
	}
	return a
}

// Round returns how many bytes a range of n takes.
func (a *Arena) Round(n int64) int64 { return (n + a.align - 1) / a.align * a.align }

// Used returns how many bytes are handed out.
func (a *Arena) Used() int64 { return a.used }

// Free returns what is free, by offset. The caller does not change it.
func (a *Arena) Free() []Extent { return a.free }

// Alloc returns the offset of n bytes, n > 0.
func (a *Arena) Alloc(n int64) (int64, bool) {
	n = a.Round(n)
	for i := range a.free {
		s := &a.free[i]
		if s.N < n {
			continue
		}
		off := s.Off
		s.Off += n
		s.N -= n
		if s.N == 0 {
			a.free = slices.Delete(a.free, i, i+1)
		}
		a.used += n
		return off, true
	}
	return 0, false
}

// Release gives back what Alloc returned for n.
func (a *Arena) Release(off, n int64) {
	n = a.Round(n)
	a.used -= n
	i, _ := slices.BinarySearchFunc(a.free, off, func(s Extent, off int64) int { return int(min(max(s.Off-off, -1), 1)) })
	if i > 0 && a.free[i-1].Off+a.free[i-1].N > off || i < len(a.free) && off+n > a.free[i].Off {
		panic("hoplite: a range of the store was given back twice")
	}
	a.free = slices.Insert(a.free, i, Extent{off, n})
	if i+1 < len(a.free) && off+n == a.free[i+1].Off {
		a.free[i].N += a.free[i+1].N
		a.free = slices.Delete(a.free, i+1, i+2)
	}
	if i > 0 && a.free[i-1].Off+a.free[i-1].N == off {
		a.free[i-1].N += a.free[i].N
		a.free = slices.Delete(a.free, i, i+1)
	}
}
