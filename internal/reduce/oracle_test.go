package reduce

import (
	"math"
	"math/big"
)

// oracle is one element of the reduction, by the definition and the slow way:
// integers through big numbers, floats case by case.
func oracle[T Number](op Op, a, b T) T {
	switch {
	case isFloat[T]():
		return T(oracleFloat(op, float64(a), float64(b), kindOf[T]() == kindFloat32))
	case T(0)-1 < 0:
		return T(oracleInteger(op, big.NewInt(int64(a)), big.NewInt(int64(b))))
	}
	return T(oracleInteger(op, new(big.Int).SetUint64(uint64(a)), new(big.Int).SetUint64(uint64(b))))
}

// oracleInteger returns the low 64 bits of a op b.
func oracleInteger(op Op, a, b *big.Int) uint64 {
	r := new(big.Int)
	switch op {
	case Sum:
		r.Add(a, b)
	case Prod:
		r.Mul(a, b)
	case Min:
		r.Set(a)
		if b.Cmp(a) < 0 {
			r.Set(b)
		}
	case Max:
		r.Set(a)
		if b.Cmp(a) > 0 {
			r.Set(b)
		}
	case And:
		r.And(a, b)
	case Or:
		r.Or(a, b)
	case Xor:
		r.Xor(a, b)
	}
	return r.And(r, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

// oracleFloat returns a op b for numbers of which float64 holds every one, and
// so every float32. A sum or product of float32 rounded to float64 and then to
// float32 is the one rounded once, because 53 bits are more than twice 24.
func oracleFloat(op Op, a, b float64, single bool) float64 {
	var r float64
	switch op {
	case Sum:
		r = a + b
	case Prod:
		r = a * b
	case Min:
		r = a
		if b < a || b == a && math.Signbit(b) {
			r = b
		}
	case Max:
		r = a
		if b > a || b == a && !math.Signbit(b) {
			r = b
		}
	}
	if math.IsNaN(a) || math.IsNaN(b) || math.IsNaN(r) {
		return math.Float64frombits(nan64)
	}
	if single {
		r = float64(float32(r))
	}
	return r
}

// bits returns the representation of x, which tells -0 from +0 and one NaN from
// another.
func bits[T Number](x T) uint64 {
	switch kindOf[T]() {
	case kindFloat32:
		return uint64(as[uint32]([]T{x})[0])
	case kindFloat64:
		return as[uint64]([]T{x})[0]
	}
	return uint64(x)
}

// specials returns the values at which kernels go wrong.
func specials[T Number]() []T {
	switch kindOf[T]() {
	case kindFloat32:
		return as[T]([]uint32{
			0, 1 << 31, // zeros
			0x3F800000, 0xBF800000, 0x40490FDB, // 1, -1, pi
			1, 0x80000001, 0x007FFFFF, 0x807FFFFF, // smallest and largest denormals
			0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, // smallest and largest normals
			0x7F800000, 0xFF800000, // infinities
			0x7FC00000, 0xFFC00000, 0x7FC12345, 0xFFFFFFFF, // quiet NaNs
			0x7F800001, 0xFF800001, 0x7FBFFFFF, // signalling NaNs
			0x5F000000, 0x20000000, // products over- and underflow
		})
	case kindFloat64:
		return as[T]([]uint64{
			0, 1 << 63,
			0x3FF0000000000000, 0xBFF0000000000000, 0x400921FB54442D18,
			1, 0x8000000000000001, 0x000FFFFFFFFFFFFF, 0x800FFFFFFFFFFFFF,
			0x0010000000000000, 0x8010000000000000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF,
			0x7FF0000000000000, 0xFFF0000000000000,
			0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001, 0xFFFFFFFFFFFFFFFF,
			0x7FF0000000000001, 0xFFF0000000000001, 0x7FF7FFFFFFFFFFFF,
			0x5FF0000000000000, 0x1FF0000000000000,
		})
	}
	// The ends of every width: those too large for T wrap to other values of it.
	var s []T
	for _, shift := range []int{0, 1, 7, 8, 15, 16, 31, 32, 63} {
		v := uint64(1) << shift
		s = append(s, T(v), T(v-1), T(v+1), T(-v), T(v/3))
	}
	return s
}
