package collective

import (
	"strings"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// A DType is a type of elements.
type DType struct {
	Name  string
	size  int
	Exact int // whole numbers up to it are elements, sums of them too
	// Supports reports whether an operation is defined for it.
	Supports func(collectives.Op) bool
	// Fold is what the limit computes with.
	Fold func(collectives.Op) (limit.Folds, error)
	// vectors makes the vectors of a rank in its own memory.
	vectors func(me int, c *Spec, s *limit.CallShape) limit.Buffers
	// open makes the vectors of a call that all ranks make.
	open opener
}

// Dtypes are all there are, in the order of the help.
func Dtypes() []DType {
	return []DType{
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

func newDtype[T reduce.Element](name string, exact int, of func(int) T) DType {
	size := len(reduce.BytesOf(make([]T, 1)))
	return DType{
		Name: name, size: size, Exact: exact,
		Supports: reduce.Supports[T],
		Fold:     limit.FoldsOf[T],
		vectors: func(me int, c *Spec, s *limit.CallShape) limit.Buffers {
			p := plainPair[T](s)
			return p.buffers(me, c, s, of)
		},
		open: openVectors(of),
	}
}

// DtypeNames returns the names of all types of elements, with commas between.
func DtypeNames() string {
	var names []string
	for _, d := range Dtypes() {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

// Ops are the operations that --op takes: those of numbers.
func Ops() []collectives.Op {
	return []collectives.Op{
		collectives.Sum, collectives.Prod, collectives.Min, collectives.Max,
		collectives.And, collectives.Or, collectives.Xor,
	}
}

// OpNames returns the names of the operations that --op takes, with commas between.
func OpNames() string {
	var names []string
	for _, op := range Ops() {
		names = append(names, op.String())
	}
	return strings.Join(names, ", ")
}
