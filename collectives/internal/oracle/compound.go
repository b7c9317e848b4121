package oracle

import (
	"math"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// Complex128s are complex numbers: sums of small integers, and products of units
// and numbers such as 1+i, whose parts are always 0 or a power of two.
func Complex128s(op reduce.Op) Elements[complex128] {
	e := Elements[complex128]{
		Make: func(h uint64, _, parts int) complex128 {
			return complex(small(h, 1<<50/parts), small(h>>20, 1<<50/parts))
		},
		Fold: func(a, b complex128) complex128 { return a + b },
		Same: func(a, b complex128) bool { return a == b },
	}
	if op == reduce.Prod {
		e.Make = func(h uint64, _, _ int) complex128 { return gaussian(h) }
		e.Fold = func(a, b complex128) complex128 { return a * b }
	}
	return e
}

// Complex64s are complex numbers as those of Complex128s.
func Complex64s(op reduce.Op) Elements[complex64] {
	wide := Complex128s(op)
	e := Elements[complex64]{
		Make: func(h uint64, _, parts int) complex64 {
			return complex(float32(small(h, 1<<24/parts)), float32(small(h>>20, 1<<24/parts)))
		},
		Fold: func(a, b complex64) complex64 { return complex64(wide.Fold(complex128(a), complex128(b))) },
		Same: func(a, b complex64) bool { return a == b },
	}
	if op == reduce.Prod {
		e.Make = func(h uint64, _, _ int) complex64 { return complex64(gaussian(h)) }
	}
	return e
}

// gaussian is a unit, or one times 1+i.
func gaussian(h uint64) complex128 {
	all := [...]complex128{1, -1, 1i, -1i, 1 + 1i, 1 - 1i, -1 + 1i, -1 - 1i}
	return all[h>>8%uint64(len(all))]
}

// Locs are values with their place, few enough values that many are equal, and
// with equal indices among those.
func Locs[V reduce.LocValue](op reduce.Op) Elements[reduce.Loc[V]] {
	special := func(h uint64) V {
		v := V(h >> 8 % 4)
		if half := V(1) / 2; half != 0 { // a floating-point type
			switch h >> 16 % 32 {
			case 0:
				return V(math.Inf(1))
			case 1:
				return V(math.Inf(-1))
			case 2:
				return V(math.Copysign(0, -1))
			}
		}
		return v
	}
	return Elements[reduce.Loc[V]]{
		Make: func(h uint64, _, _ int) reduce.Loc[V] {
			return reduce.Loc[V]{Value: special(h), Index: int64(h>>40%64) - 8}
		},
		Fold: func(a, b reduce.Loc[V]) reduce.Loc[V] {
			x, y := a.Value, b.Value
			if op == reduce.MaxLoc {
				x, y = y, x
			}
			switch {
			case less(x, y):
				return a
			case less(y, x):
				return b
			}
			a.Index = min(a.Index, b.Index)
			return a
		},
		Same: func(a, b reduce.Loc[V]) bool {
			return a.Index == b.Index && !less(a.Value, b.Value) && !less(b.Value, a.Value)
		},
	}
}

// less reports whether x comes before y: -0 before 0.
func less[V reduce.LocValue](x, y V) bool {
	if x == 0 && y == 0 {
		return math.Signbit(float64(x)) && !math.Signbit(float64(y))
	}
	return x < y
}
