package oracle

import "github.com/gaspi-go/gaspi-go/internal/reduce"

// Integer is the integer types.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint
}

// Integers are integers of any bits: their operations wrap around, which is exact.
func Integers[T Integer](op reduce.Op) Elements[T] {
	folds := map[reduce.Op]func(a, b T) T{
		reduce.Sum:  func(a, b T) T { return a + b },
		reduce.Prod: func(a, b T) T { return a * b },
		reduce.Min:  func(a, b T) T { return min(a, b) },
		reduce.Max:  func(a, b T) T { return max(a, b) },
		reduce.And:  func(a, b T) T { return a & b },
		reduce.Or:   func(a, b T) T { return a | b },
		reduce.Xor:  func(a, b T) T { return a ^ b },
	}
	e := Moved(func(h uint64) T { return T(h) })
	e.Fold = folds[op]
	switch op {
	case reduce.Prod: // an even factor would soon leave nothing but zeros
		e.Make = func(h uint64, _, _ int) T { return T(h) | 1 }
	case reduce.And: // as would bits that are mostly clear
		e.Make = func(h uint64, _, _ int) T { return T(h | h>>13 | h>>26 | h>>39) }
	case reduce.Or:
		e.Make = func(h uint64, _, _ int) T { return T(h & (h >> 13) & (h >> 26) & (h >> 39)) }
	}
	return e
}

// Moved are elements of any type, which are only moved.
func Moved[T comparable](of func(hash uint64) T) Elements[T] {
	return Elements[T]{
		Make: func(h uint64, _, _ int) T { return of(h) },
		Same: func(a, b T) bool { return a == b },
	}
}
