package reduce

import (
	"math"

	"github.com/gaspi-go/gaspi-go/gaspi/datatype"
)

// integer and float are the built-in types that every Number but a half float is
// reduced as; int and uint are one of these by size.
type (
	integer interface {
		int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
	}
	float interface{ float32 | float64 }
)

// scalarInteger is the pure-Go kernel for integers, and the meaning that the
// vector kernels are held to. The slices have the same length.
func scalarInteger[T integer](op Op, dst, a, b []T) {
	// Equal lengths, said in a way that lets the compiler drop bounds checks.
	a, b = a[:len(dst)], b[:len(dst)]
	switch op {
	case Sum:
		for i := range dst {
			dst[i] = a[i] + b[i]
		}
	case Prod:
		for i := range dst {
			dst[i] = a[i] * b[i]
		}
	case Min:
		for i := range dst {
			dst[i] = min(a[i], b[i])
		}
	case Max:
		for i := range dst {
			dst[i] = max(a[i], b[i])
		}
	case And:
		for i := range dst {
			dst[i] = a[i] & b[i]
		}
	case Or:
		for i := range dst {
			dst[i] = a[i] | b[i]
		}
	case Xor:
		for i := range dst {
			dst[i] = a[i] ^ b[i]
		}
	}
}

// The only NaNs that a reduction returns; see the package comment.
const (
	nan32 = 0x7FC00000
	nan64 = 0x7FF8000000000000
)

// scalarFloat is scalarInteger for floating-point numbers.
func scalarFloat[T float](op Op, dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch op {
	case Sum:
		for i := range dst {
			dst[i] = canonicalFloat(a[i] + b[i])
		}
	case Prod:
		for i := range dst {
			dst[i] = canonicalFloat(a[i] * b[i])
		}
	case Min:
		for i := range dst {
			dst[i] = canonicalFloat(min(a[i], b[i]))
		}
	case Max:
		for i := range dst {
			dst[i] = canonicalFloat(max(a[i], b[i]))
		}
	}
}

// canonicalFloat returns x, or the one NaN if x is any. The conversion keeps
// the sign and the leading bits of the constant, which is the other one then.
func canonicalFloat[T float](x T) T {
	if x != x {
		return T(math.Float64frombits(nan64))
	}
	return x
}

// scalarFloat16 and scalarBFloat16 are scalarInteger for half floats.
func scalarFloat16(op Op, dst, a, b []Float16) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch op {
	case Sum:
		for i := range dst {
			dst[i] = datatype.ToFloat16(a[i].Float32() + b[i].Float32())
		}
	case Prod:
		for i := range dst {
			dst[i] = datatype.ToFloat16(a[i].Float32() * b[i].Float32())
		}
	case Min:
		for i := range dst {
			dst[i] = Float16(min16(int16(a[i]), int16(b[i]), inf16, nan16))
		}
	case Max:
		for i := range dst {
			dst[i] = Float16(max16(int16(a[i]), int16(b[i]), inf16, nan16))
		}
	}
}

func scalarBFloat16(op Op, dst, a, b []BFloat16) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch op {
	case Sum:
		for i := range dst {
			dst[i] = datatype.ToBFloat16(a[i].Float32() + b[i].Float32())
		}
	case Prod:
		for i := range dst {
			dst[i] = datatype.ToBFloat16(a[i].Float32() * b[i].Float32())
		}
	case Min:
		for i := range dst {
			dst[i] = BFloat16(min16(int16(a[i]), int16(b[i]), infBrain, nanBrain))
		}
	case Max:
		for i := range dst {
			dst[i] = BFloat16(max16(int16(a[i]), int16(b[i]), infBrain, nanBrain))
		}
	}
}
