package datatype

import "fmt"

// An Op names an element-wise operation. All are commutative. Sum and Prod of floating-point
// numbers are not associative, so that a result depends on the order in which contributions are
// combined. The bits of a result depend on the operation and the two operands alone, on every
// processor.
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
	// Average is the sum divided by the number of contributions. It is no operation of two elements:
	// package collectives, which has it for its members, divides the Sum.
	Average
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
	MinLoc: "minloc", MaxLoc: "maxloc", Average: "average",
}
