package reduce

import (
	"fmt"
	"reflect"

	"github.com/gaspi-go/gaspi-go/gaspi/datatype"
)

// Number is [datatype.Number].
type Number = datatype.Number

// Element is [datatype.Element].
type Element = datatype.Element

// Float16 is [datatype.Float16].
type Float16 = datatype.Float16

// BFloat16 is [datatype.BFloat16].
type BFloat16 = datatype.BFloat16

// LocValue is [datatype.LocValue].
type LocValue = datatype.LocValue

// Loc is [datatype.Loc].
type Loc[V LocValue] = datatype.Loc[V]

// Op is [datatype.Op].
type Op = datatype.Op

// The operations, by the names that kernels and their generator use.
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

	numOps = MaxLoc + 1
)

// Supports reports whether Into and KernelOf accept op for elements of type T:
// Sum to Xor for integers, Sum to Max for floating-point numbers (also Float16
// and BFloat16), Sum and Prod for complex numbers, MinLoc and MaxLoc for Loc.
func Supports[T Element](op Op) bool { return kindOf[T]().supports(op) }

// refusal says why op is not defined for a type of kind k.
func refusal(k kind, t reflect.Type, op Op) string {
	if op >= numOps {
		return fmt.Sprintf("%v is not an operation; use one of Sum to MaxLoc", op)
	}
	var takes string
	switch {
	case op >= MinLoc:
		takes = "MinLoc and MaxLoc take Loc"
	case k >= kindLocInt32:
		takes = "Loc takes MinLoc and MaxLoc"
	case op >= And:
		takes = "And, Or and Xor take integers"
	default:
		takes = "complex numbers take Sum and Prod"
	}
	return fmt.Sprintf("%v is not defined for %v; %s", op, t, takes)
}
