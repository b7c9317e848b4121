package datatype

// Number is the set of numeric element types with an order, including types
// defined from them. By their layout, Float16 and BFloat16 are in it.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int |
		~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64
}

// Element is the set of element types that can be reduced.
type Element interface {
	Number | ~complex64 | ~complex128 | Loc[int32] | Loc[int64] | Loc[float32] | Loc[float64]
}

// LocValue is the set of types that a Loc orders.
type LocValue interface {
	int32 | int64 | float32 | float64
}

// A Loc is a value and where it is, for MinLoc and MaxLoc.
//
// Behind a Value of 4 bytes lie 4 bytes of padding. Results of reductions have
// zeros there, whatever the operands had, so that equal results are equal bytes. Of equal values
// the one with the lower index wins.
type Loc[V LocValue] struct {
	Value V
	Index int64
}
