package main

import (
	"strings"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// A dtype is a type of elements.
type dtype struct {
	name  string
	size  int
	exact int // whole numbers up to it are elements, sums of them too
	// supports reports whether an operation is defined for it.
	supports func(collectives.Op) bool
	// fold is what the limit computes with.
	fold func(collectives.Op) (folds, error)
	// vectors makes the vectors of a rank in its own memory.
	vectors func(me int, c *collective, s *shape) sides
	// open makes the vectors of a call that all ranks make.
	open opener
}

// dtypes are all there are, in the order of the help.
func dtypes() []dtype {
	return []dtype{
		newDtype("float64", 1<<53, func(v int) float64 { return float64(v) }),
		newDtype("float32", 1<<24, func(v int) float32 { return float32(v) }),
		newDtype("float16", 1<<11, func(v int) collectives.Float16 { return collectives.ToFloat16(float32(v)) }),
		newDtype("bfloat16", 1<<8, func(v int) collectives.BFloat16 { return collectives.ToBFloat16(float32(v)) }),
		newDtype("complex128", 1<<53, func(v int) complex128 { return complex(float64(v), 0) }),
		newDtype("complex64", 1<<24, func(v int) complex64 { return complex(float32(v), 0) }),
		newDtype("int64", 1<<62, func(v int) int64 { return int64(v) }),
		newDtype("int32", 1<<30, func(v int) int32 { return int32(v) }),
		newDtype("int16", 1<<14, func(v int) int16 { return int16(v) }),
		newDtype("int8", 1<<7-1, func(v int) int8 { return int8(v) }),
		newDtype("uint64", 1<<62, func(v int) uint64 { return uint64(v) }),
		newDtype("uint32", 1<<31, func(v int) uint32 { return uint32(v) }),
		newDtype("uint16", 1<<15, func(v int) uint16 { return uint16(v) }),
		newDtype("uint8", 1<<8-1, func(v int) uint8 { return uint8(v) }),
	}
}

func newDtype[T reduce.Element](name string, exact int, of func(int) T) dtype {
	size := len(reduce.BytesOf(make([]T, 1)))
	return dtype{
		name: name, size: size, exact: exact,
		supports: reduce.Supports[T],
		fold:     foldsOf[T],
		vectors: func(me int, c *collective, s *shape) sides {
			p := plainPair[T](s)
			return p.sides(me, c, s, of)
		},
		open: openVectors(of),
	}
}

func dtypeNames() string {
	var names []string
	for _, d := range dtypes() {
		names = append(names, d.name)
	}
	return strings.Join(names, ", ")
}

// ops are the operations that --op takes: those of numbers.
func ops() []collectives.Op {
	return []collectives.Op{
		collectives.Sum, collectives.Prod, collectives.Min, collectives.Max,
		collectives.And, collectives.Or, collectives.Xor,
	}
}

func opNames() string {
	var names []string
	for _, op := range ops() {
		names = append(names, op.String())
	}
	return strings.Join(names, ", ")
}

// folds are an operation on vectors: the fold of some, and that of two stored twice.
type folds struct {
	fold  reduce.Fold
	twice reduce.Twice
}

func foldsOf[T reduce.Element](op collectives.Op) (folds, error) {
	fold, err := reduce.FoldOf[T](op)
	if err != nil {
		return folds{}, err
	}
	twice, err := reduce.TwiceOf[T](op)
	return folds{fold, twice}, err
}

// noFolds returns the folds of --no-op, which combine nothing.
func noFolds() folds {
	return folds{func([]byte, [][]byte) {}, func(dst, back, _, _ []byte) { copy(back, dst) }}
}
