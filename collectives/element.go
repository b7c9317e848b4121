package collectives

import (
	"fmt"
	"reflect"

	"github.com/gaspi-go/gaspi-go/collectives/internal/executor"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/gaspi/datatype"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// Element is what the operations of this package can combine: integers of every
// size, float32, float64, Float16, BFloat16, complex numbers, and Loc.
type Element = datatype.Element

// Float16 is an IEEE 754 binary16 number. It is combined in float32 and rounded
// once.
type Float16 = datatype.Float16

// BFloat16 is the upper half of a float32. It is combined in float32 and rounded
// once.
type BFloat16 = datatype.BFloat16

// ToFloat16 is the Float16 nearest to f, of two the even one.
func ToFloat16(f float32) Float16 { return datatype.ToFloat16(f) }

// ToBFloat16 is the BFloat16 nearest to f, of two the even one.
func ToBFloat16(f float32) BFloat16 { return datatype.ToBFloat16(f) }

// A Loc is a value and where it is, for MinLoc and MaxLoc. Of equal values the
// one with the lower index wins.
type Loc[V datatype.LocValue] = datatype.Loc[V]

// Op is an operation on elements. The bits of a result depend on the operation and
// the two operands alone, on every processor.
type Op = datatype.Op

// The operations. And, Or and Xor are for integers, MinLoc and MaxLoc for Loc;
// complex numbers have Sum and Prod.
const (
	Sum    = datatype.Sum
	Prod   = datatype.Prod
	Min    = datatype.Min
	Max    = datatype.Max
	And    = datatype.And
	Or     = datatype.Or
	Xor    = datatype.Xor
	MinLoc = datatype.MinLoc
	MaxLoc = datatype.MaxLoc
	// Average is the Sum, divided by the number of members: of floating-point numbers, in AllReduce,
	// ReduceScatter and their other forms, and in a Bucket. Each element of the sum, with the bits that
	// Sum gives it, is divided in the arithmetic of its type, those of Float16 and BFloat16 in that of
	// float32, and rounded once. So a sum that overflows has no average. AllReduceMany divides by the
	// number of members too.
	Average = datatype.Average
)

// A Func is an operation of the program: it stores a[i] combined with b[i] in
// dst[i] for every i. The three have equal length; dst may be a or b. It is
// associative, the same on all members, and keeps no slice. Whether it commutes
// is for the call to say. Of a task that was started it is called in a goroutine of the team, where a
// panic ends the program; see Config.Progress.
type Func[T any] func(dst, a, b []T)

// An elementType is what is known of the elements of a task. It is comparable, and
// costs nothing to make.
type elementType struct {
	typ     reflect.Type
	size    int
	kernels kernels // nil if elements are only moved
}

// kernels makes the kernels of one element type.
type kernels interface {
	kernel(op Op) (executor.Folds, error)
	quotient() func(vector []byte, by int)
}

// kernelsOf is the kernels of T.
type kernelsOf[T Element] struct{}

func (kernelsOf[T]) kernel(op Op) (executor.Folds, error) {
	two, err := reduce.KernelOf[T](op)
	if err != nil {
		return executor.Folds{}, err
	}
	many, err := reduce.FoldOf[T](op)
	if err != nil {
		return executor.Folds{}, err
	}
	twice, err := reduce.TwiceOf[T](op)
	return executor.Folds{Two: two, Many: many, Twice: twice}, err
}

// combinable is the type of elements that the operations are defined on.
func combinable[T Element]() elementType {
	typ := reflect.TypeFor[T]()
	return elementType{typ: typ, size: int(typ.Size()), kernels: kernelsOf[T]{}}
}

// movable is the type of any elements.
func movable[T any]() elementType {
	typ := reflect.TypeFor[T]()
	return elementType{typ: typ, size: int(typ.Size())}
}

// check returns why elements of the type cannot travel, or nil.
func (e elementType) check() error {
	switch {
	case e.size == 0:
		return fmt.Errorf("%w: elements of type %v have no size", gaspi.ErrOutOfRange, e.typ)
	case !reduce.PointerFree(e.typ):
		return fmt.Errorf("%w: elements of type %v have pointers, which mean nothing to other ranks", gaspi.ErrOutOfRange, e.typ)
	}
	return nil
}

// kernel is what op is on the elements, or why it is nothing.
func (e elementType) kernel(op Op) (executor.Folds, error) {
	if e.kernels == nil {
		return executor.Folds{}, fmt.Errorf("%w: no function to combine elements of type %v with", gaspi.ErrOutOfRange, e.typ)
	}
	if op == Average {
		op = Sum
	}
	f, err := e.kernels.kernel(op)
	if err != nil {
		return executor.Folds{}, fmt.Errorf("%w: %v of elements of type %v: %w", gaspi.ErrOutOfRange, op, e.typ, err)
	}
	return f, nil
}

// ofFunc is a program's operation on bytes, nil if there is none.
func ofFunc[T any](fn Func[T]) reduce.Kernel {
	if fn == nil {
		return nil
	}
	return func(dst, a, b []byte) { fn(reduce.Of[T](dst), reduce.Of[T](a), reduce.Of[T](b)) }
}
