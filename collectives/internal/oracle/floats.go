package oracle

import (
	"math"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// A float is how numbers of a format are made and read.
type float[T any] struct {
	of       func(float64) T // exact, or a panic
	value    func(T) float64
	integers int // up to here all are exact
	exponent int // powers of two from -exponent to exponent are exact
}

// elements are floating-point numbers whose results are exact: sums of small
// integers, products of signs and powers of two, and for Min and Max anything,
// signed zeros, infinities and NaN included.
func (f float[T]) elements(op reduce.Op) Elements[T] {
	e := Elements[T]{Same: func(a, b T) bool { return math.Float64bits(f.value(a)) == math.Float64bits(f.value(b)) }}
	fold := func(do func(a, b float64) float64) func(a, b T) T {
		return func(a, b T) T { return f.of(do(f.value(a), f.value(b))) }
	}
	switch op {
	case reduce.Sum:
		e.Make = func(h uint64, _, parts int) T { return f.of(small(h, f.integers/parts)) }
		e.Fold = fold(func(a, b float64) float64 { return a + b })
	case reduce.Prod:
		e.Make = func(h uint64, part, parts int) T { return f.of(power(h, part, parts, f.exponent)) }
		e.Fold = fold(func(a, b float64) float64 { return a * b })
	case reduce.Min:
		e.Make = func(h uint64, _, _ int) T { return f.of(special(h, f.integers)) }
		e.Fold = fold(func(a, b float64) float64 { return min(a, b) })
	case reduce.Max:
		e.Make = func(h uint64, _, _ int) T { return f.of(special(h, f.integers)) }
		e.Fold = fold(func(a, b float64) float64 { return max(a, b) })
	}
	return e
}

// Float64s are numbers of type float64.
func Float64s(op reduce.Op) Elements[float64] { return float64s().elements(op) }

// Float32s are numbers of type float32.
func Float32s(op reduce.Op) Elements[float32] { return float32s().elements(op) }

// Float16s are numbers of type reduce.Float16.
func Float16s(op reduce.Op) Elements[reduce.Float16] {
	h := half{fraction: 10, bias: 15}
	return float[reduce.Float16]{
		of:       func(x float64) reduce.Float16 { return reduce.Float16(h.bits(x)) },
		value:    func(x reduce.Float16) float64 { return h.value(uint16(x)) },
		integers: 1 << 11, exponent: 14,
	}.elements(op)
}

// BFloat16s are numbers of type reduce.BFloat16.
func BFloat16s(op reduce.Op) Elements[reduce.BFloat16] {
	h := half{fraction: 7, bias: 127}
	return float[reduce.BFloat16]{
		of:       func(x float64) reduce.BFloat16 { return reduce.BFloat16(h.bits(x)) },
		value:    func(x reduce.BFloat16) float64 { return h.value(uint16(x)) },
		integers: 1 << 8, exponent: 126,
	}.elements(op)
}

func float64s() float[float64] {
	return float[float64]{
		of: canonical, value: func(x float64) float64 { return x }, integers: 1 << 53, exponent: 1022,
	}
}

func float32s() float[float32] {
	return float[float32]{
		of: func(x float64) float32 {
			switch y := float32(x); {
			case x != x:
				return math.Float32frombits(0x7fc00000)
			case float64(y) == x:
				return y
			}
			panic("oracle: a number that float32 does not hold")
		},
		value: func(x float32) float64 { return float64(x) }, integers: 1 << 24, exponent: 126,
	}
}

// canonical is x, or the one NaN that reductions return: where there is nothing to
// combine an input is copied as it is.
func canonical(x float64) float64 {
	if x != x {
		return math.Float64frombits(0x7ff8000000000000)
	}
	return x
}

// small is an integer from -most to most, and not beyond a million.
func small(h uint64, most int) float64 {
	most = max(1, min(most, 1_000_000))
	return float64(int(h>>8%uint64(2*most+1)) - most)
}

// power is a sign and a power of two. The exponents of all parts together stay
// within most, so that no partial product leaves the range.
func power(h uint64, part, parts, most int) float64 {
	each := min(3, most/parts)
	if each == 0 { // too many parts: some of them have a share
		each = 0
		if part < most {
			each = 1
		}
	}
	x := math.Ldexp(1, int(h>>8%uint64(2*each+1))-each)
	if h&1 != 0 {
		return -x
	}
	return x
}

// special is a number up to most of either sign, or now and then one that sorts in
// a way of its own.
func special(h uint64, most int) float64 {
	switch h & 0x3f {
	case 0:
		return math.Inf(1)
	case 1:
		return math.Inf(-1)
	case 2, 3:
		return 0
	case 4, 5:
		return math.Copysign(0, -1)
	case 6:
		if h>>6&0xff == 0 { // rare: it swallows all others
			return canonical(math.NaN())
		}
	}
	return small(h, most)
}

// A half is a format of 16 bits, read and written here by its definition.
type half struct{ fraction, bias int }

func (f half) value(bits uint16) float64 {
	sign := 1.0
	if bits>>15 != 0 {
		sign = -1
	}
	exponent := int(bits&0x7fff) >> f.fraction
	mantissa := int(bits) & (1<<f.fraction - 1)
	switch {
	case exponent == 1<<(15-f.fraction)-1 && mantissa != 0:
		return canonical(math.NaN())
	case exponent == 1<<(15-f.fraction)-1:
		return math.Inf(int(sign))
	case exponent == 0:
		return math.Copysign(math.Ldexp(float64(mantissa), 1-f.bias-f.fraction), sign)
	}
	return sign * math.Ldexp(float64(mantissa+1<<f.fraction), exponent-f.bias-f.fraction)
}

// bits is the half that is x, which must be one.
func (f half) bits(x float64) uint16 {
	var bits uint16
	if math.Signbit(x) {
		bits = 1 << 15
	}
	top := 1<<(15-f.fraction) - 1
	switch mantissa, exponent := math.Frexp(math.Abs(x)); {
	case x != x:
		return uint16(top<<f.fraction | 1<<(f.fraction-1))
	case math.IsInf(x, 0):
		bits |= uint16(top << f.fraction)
	case x != 0:
		stored := exponent - 1 + f.bias
		bits |= uint16(stored<<f.fraction + int(math.Ldexp(mantissa, f.fraction+1)) - 1<<f.fraction)
	}
	if f.value(bits) != x {
		panic("oracle: a number that a half float does not hold")
	}
	return bits
}
