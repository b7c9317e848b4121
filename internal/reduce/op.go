package reduce

import "fmt"

// Op names an element-wise operation. All of them are commutative; Sum and
// Prod of floating-point numbers are not associative, so the order in which
// contributions are combined is the caller's to fix.
type Op uint8

// The operations. And, Or and Xor work on the bits of integers only; complex
// numbers have no order and so only Sum and Prod; MinLoc and MaxLoc take Loc.
const (
	// Sum adds; integers wrap around.
	Sum Op = iota
	// Prod multiplies; integers wrap around.
	Prod
	// Min keeps the smaller element; -0 is smaller than +0, NaN wins.
	Min
	// Max keeps the larger element; +0 is larger than -0, NaN wins.
	Max
	// And keeps the bits set in both.
	And
	// Or keeps the bits set in either.
	Or
	// Xor keeps the bits set in exactly one.
	Xor
	// MinLoc keeps the smaller value, ordered as by Min, with its index; of
	// equal values (two NaNs are equal) it keeps the lower index.
	MinLoc
	// MaxLoc keeps the larger value, ordered as by Max, with its index; of
	// equal values (two NaNs are equal) it keeps the lower index.
	MaxLoc

	numOps = iota
)

// String returns the lower-case name of the operation, or Op(n) for a value
// that is none of them.
func (op Op) String() string {
	if int(op) < len(opNames) {
		return opNames[op]
	}
	return fmt.Sprintf("Op(%d)", uint8(op))
}

var opNames = [...]string{
	Sum: "sum", Prod: "prod", Min: "min", Max: "max", And: "and", Or: "or", Xor: "xor",
	MinLoc: "minloc", MaxLoc: "maxloc",
}

// Supports reports whether Into and KernelOf accept op for elements of type T:
// Sum to Xor for integers, Sum to Max for floating-point numbers (also Float16
// and BFloat16), Sum and Prod for complex numbers, MinLoc and MaxLoc for Loc.
func Supports[T Element](op Op) bool { return kindOf[T]().supports(op) }

// refusal says why op is not defined for T.
func refusal[T Element](op Op) string {
	if op >= numOps {
		return fmt.Sprintf("%v is not an operation; use one of Sum to MaxLoc", op)
	}
	var takes string
	switch {
	case op >= MinLoc:
		takes = "MinLoc and MaxLoc take Loc"
	case kindOf[T]() >= kindLocInt32:
		takes = "Loc takes MinLoc and MaxLoc"
	case op >= And:
		takes = "And, Or and Xor take integers"
	default:
		takes = "complex numbers take Sum and Prod"
	}
	return fmt.Sprintf("%v is not defined for %T; %s", op, *new(T), takes)
}
