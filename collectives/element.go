package collectives

import (
	"github.com/gaspi-go/gaspi-go/gaspi/datatype"
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
