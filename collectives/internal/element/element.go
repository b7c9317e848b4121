// Package element says what is known of the elements of a call: whether they can travel, how they are
// combined, divided and coded.
//
// It knows neither calls nor members. Package collectives calls it; it is pure.
package element

import (
	"fmt"
	"math"
	"reflect"

	"github.com/gaspi-go/gaspi-go/collectives/internal/codec"
	"github.com/gaspi-go/gaspi-go/collectives/internal/executor"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/gaspi/datatype"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// A Type is a type of elements. It is comparable, and costs nothing to make.
type Type struct {
	Type       reflect.Type
	Size       int  // in bytes
	combinable bool // else elements are only moved
}

// Combinable returns the type of elements that the operations are defined on.
func Combinable[T datatype.Element]() Type {
	typ := Movable[T]()
	typ.combinable = true
	return typ
}

// Movable returns the type of any elements.
func Movable[T any]() Type {
	typ := reflect.TypeFor[T]()
	return Type{Type: typ, Size: int(typ.Size())}
}

// Count returns how many elements lie in mem.
func (e Type) Count(mem []byte) int { return len(mem) / max(1, e.Size) }

// Most returns how many elements no memory exceeds: their bytes can be counted.
func (e Type) Most() int { return math.MaxInt / max(1, e.Size) }

// Check returns why elements of the type cannot travel, or nil.
func (e Type) Check() error {
	switch {
	case e.Size == 0:
		return fmt.Errorf("%w: elements of type %v have no size", gaspi.ErrOutOfRange, e.Type)
	case !reduce.PointerFree(e.Type):
		return fmt.Errorf("%w: elements of type %v have pointers, which mean nothing to other ranks", gaspi.ErrOutOfRange, e.Type)
	}
	return nil
}

// Folds returns what op is on the elements, or why it is nothing. An average is folded as a sum.
func (e Type) Folds(op datatype.Op) (executor.Folds, error) {
	if !e.combinable {
		return executor.Folds{}, fmt.Errorf("%w: no function to combine elements of type %v with", gaspi.ErrOutOfRange, e.Type)
	}
	if op == datatype.Average {
		op = datatype.Sum
	}
	f, err := e.folds(op)
	if err != nil {
		return executor.Folds{}, fmt.Errorf("%w: %v of elements of type %v: %w", gaspi.ErrOutOfRange, op, e.Type, err)
	}
	return f, nil
}

func (e Type) folds(op datatype.Op) (executor.Folds, error) {
	two, err := reduce.KernelFor(e.Type, op)
	if err != nil {
		return executor.Folds{}, err
	}
	many, err := reduce.FoldFor(e.Type, op)
	if err != nil {
		return executor.Folds{}, err
	}
	twice, err := reduce.TwiceFor(e.Type, op)
	return executor.Folds{Two: two, Many: many, Twice: twice}, err
}

// Quotient returns the function that divides the elements of a vector by a number, nil if they are no
// floating-point numbers that the operations are defined on.
func (e Type) Quotient() func(vector []byte, by int) {
	if !e.combinable {
		return nil
	}
	switch e.Coded().Number {
	case codec.Float32:
		return divideAll[float32]
	case codec.Float64:
		return divideAll[float64]
	case codec.Float16:
		return divideHalves(datatype.ToFloat16)
	case codec.BFloat16:
		return divideHalves(datatype.ToBFloat16)
	}
	return nil
}

func divideAll[T float32 | float64](vector []byte, by int) {
	for v, i := reduce.Of[T](vector), 0; i < len(v); i++ {
		v[i] /= T(by)
	}
}

func divideHalves[T interface{ Float32() float32 }](rounded func(float32) T) func(vector []byte, by int) {
	return func(vector []byte, by int) {
		for v, i := reduce.Of[T](vector), 0; i < len(v); i++ {
			v[i] = rounded(v[i].Float32() / float32(by))
		}
	}
}

// Coded returns what a codec knows of the elements.
func (e Type) Coded() codec.Element {
	c := codec.Element{Size: e.Size}
	switch e.Type {
	case reflect.TypeFor[datatype.Float16]():
		c.Number = codec.Float16
	case reflect.TypeFor[datatype.BFloat16]():
		c.Number = codec.BFloat16
	}
	switch e.Type.Kind() {
	case reflect.Float32:
		c.Number = codec.Float32
	case reflect.Float64:
		c.Number = codec.Float64
	}
	return c
}

// KernelOf returns a program's operation on bytes, nil if there is none.
func KernelOf[T any](fn func(dst, a, b []T)) reduce.Kernel {
	if fn == nil {
		return nil
	}
	return func(dst, a, b []byte) { fn(reduce.Of[T](dst), reduce.Of[T](a), reduce.Of[T](b)) }
}
