package reduce

import "fmt"

// Op names an element-wise operation. All of them are commutative; Sum and
// Prod of floating-point numbers are not associative, so the order in which
// contributions are combined is the caller's to fix.
type Op uint8

// The operations. And, Or and Xor work on the bits of integers only.
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

	numOps = iota
)

// String returns the lower-case name of the operation, or Op(n) for a value
// that is none of them.
func (op Op) String() string {
	switch op {
	case Sum:
		return "sum"
	case Prod:
		return "prod"
	case Min:
		return "min"
	case Max:
		return "max"
	case And:
		return "and"
	case Or:
		return "or"
	case Xor:
		return "xor"
	}
	return fmt.Sprintf("Op(%d)", uint8(op))
}

// Supports reports whether Into accepts op for elements of type T: every
// operation for integers, all but And, Or and Xor for floating-point numbers.
func Supports[T Number](op Op) bool {
	if isFloat[T]() {
		return op < And
	}
	return op < numOps
}
