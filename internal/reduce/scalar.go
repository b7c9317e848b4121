package reduce

import "math"

// integer and float are the built-in types that every Number is
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

func scalarFloat32(op Op, dst, a, b []float32) {
	scalarFloat(op, dst, a, b, math.Float32frombits(nan32))
}

func scalarFloat64(op Op, dst, a, b []float64) {
	scalarFloat(op, dst, a, b, math.Float64frombits(nan64))
}

// scalarFloat is scalarInteger for floating-point numbers. nan replaces every
// NaN that an operation gives.
func scalarFloat[T float](op Op, dst, a, b []T, nan T) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch op {
	case Sum:
		for i := range dst {
			dst[i] = canonical(a[i]+b[i], nan)
		}
	case Prod:
		for i := range dst {
			dst[i] = canonical(a[i]*b[i], nan)
		}
	case Min:
		for i := range dst {
			dst[i] = canonical(min(a[i], b[i]), nan)
		}
	case Max:
		for i := range dst {
			dst[i] = canonical(max(a[i], b[i]), nan)
		}
	}
}

// canonical returns x, or nan if x is any NaN.
func canonical[T float](x, nan T) T {
	if x != x {
		return nan
	}
	return x
}
