package reduce

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"sync"
)

// oracle is one element of the reduction, by the definition and the slow way:
// integers through big numbers, floats case by case in float64.
func oracle(k kind, op Op, a, b []byte) []byte {
	le := binary.LittleEndian
	switch k {
	case kindFloat32:
		return le.AppendUint32(nil, oracle32(op, le.Uint32(a), le.Uint32(b)))
	case kindFloat64:
		return le.AppendUint64(nil, oracle64(op, le.Uint64(a), le.Uint64(b)))
	case kindFloat16:
		return le.AppendUint16(nil, oracleHalf(binary16, op, le.Uint16(a), le.Uint16(b)))
	case kindBFloat16:
		return le.AppendUint16(nil, oracleHalf(brain16, op, le.Uint16(a), le.Uint16(b)))
	case kindComplex64:
		return oracleComplex(kindFloat32, op, a[:4], a[4:], b[:4], b[4:])
	case kindComplex128:
		return oracleComplex(kindFloat64, op, a[:8], a[8:], b[:8], b[8:])
	case kindLocInt32, kindLocInt64, kindLocFloat32, kindLocFloat64:
		return oracleLoc(k, op, a, b)
	}
	signed := k <= kindInt64
	word := oracleInteger(op, bigInteger(a, signed), bigInteger(b, signed))
	return le.AppendUint64(nil, word)[:len(a)]
}

// bigInteger reads a little-endian integer.
func bigInteger(e []byte, signed bool) *big.Int {
	var word [8]byte
	copy(word[:], e)
	v := new(big.Int).SetUint64(binary.LittleEndian.Uint64(word[:]))
	if signed && e[len(e)-1] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(e))))
	}
	return v
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

// oracleFloat returns a op b. A result that is NaN has any bits.
func oracleFloat(op Op, a, b float64) float64 {
	switch {
	case op == Sum:
		return a + b
	case op == Prod:
		return a * b
	case a != a || b != b:
		return math.NaN()
	case a == b && math.Signbit(a) != math.Signbit(b):
		// Zeros: -0 is the smaller.
		return math.Copysign(0, map[Op]float64{Min: -1, Max: 1}[op])
	case (a < b) == (op == Min):
		return a
	}
	return b
}

// oracle32 rounds a sum or product to float64 and then to float32, which is the
// one rounded once, because 53 bits are more than twice 24. (Where the product is
// denormal in float32 it is exact in float64.)
func oracle32(op Op, a, b uint32) uint32 {
	r := float32(oracleFloat(op, float64(math.Float32frombits(a)), float64(math.Float32frombits(b))))
	if r != r {
		return 0x7FC00000
	}
	return math.Float32bits(r)
}

func oracle64(op Op, a, b uint64) uint64 {
	r := oracleFloat(op, math.Float64frombits(a), math.Float64frombits(b))
	if r != r {
		return 0x7FF8000000000000
	}
	return math.Float64bits(r)
}

// oracleComplex applies the textbook formulas, one rounded operation at a time.
func oracleComplex(part kind, op Op, are, aim, bre, bim []byte) []byte {
	if op == Sum {
		return append(oracle(part, Sum, are, bre), oracle(part, Sum, aim, bim)...)
	}
	minus := oracle(part, Prod, aim, bim)
	minus[len(minus)-1] ^= 0x80
	re := oracle(part, Sum, oracle(part, Prod, are, bre), minus)
	im := oracle(part, Sum, oracle(part, Prod, are, bim), oracle(part, Prod, aim, bre))
	return append(re, im...)
}

// oracleLoc asks the oracle of the values which of them wins in which order.
func oracleLoc(k kind, op Op, a, b []byte) []byte {
	part := map[kind]kind{
		kindLocInt32: kindInt32, kindLocInt64: kindInt64, kindLocFloat32: kindFloat32, kindLocFloat64: kindFloat64,
	}[k]
	size := map[kind]int{kindInt32: 4, kindFloat32: 4, kindInt64: 8, kindFloat64: 8}[part]
	extremum := map[Op]Op{MinLoc: Min, MaxLoc: Max}[op]
	// An element combined with itself is itself, but for NaN, which all are one.
	canonical := func(e []byte) string { return string(oracle(part, extremum, e[:size], e[:size])) }
	best := string(oracle(part, extremum, a[:size], b[:size]))
	index := int64(math.MaxInt64)
	for _, e := range [][]byte{a, b} {
		if canonical(e) == best {
			index = min(index, int64(binary.LittleEndian.Uint64(e[8:])))
		}
	}
	r := make([]byte, 8, 16)
	copy(r, best)
	return binary.LittleEndian.AppendUint64(r, uint64(index))
}

// A layout is a 16-bit float for the oracle.
type layout struct {
	exponentBits, fractionBits int
	values                     func() []float64 // of all that value defines
}

var (
	binary16 = layout{5, 10, sync.OnceValue(func() []float64 { return layout{5, 10, nil}.all() })}
	brain16  = layout{8, 7, sync.OnceValue(func() []float64 { return layout{8, 7, nil}.all() })}
)

func (f layout) all() []float64 {
	all := make([]float64, 1<<16)
	for h := range all {
		all[h] = f.define(uint16(h))
	}
	return all
}

// value returns the number that h stands for.
func (f layout) value(h uint16) float64 { return f.values()[h] }

// define is value by the definition of the format.
func (f layout) define(h uint16) float64 {
	exponent := int(h>>f.fractionBits) & (1<<f.exponentBits - 1)
	fraction := float64(h&(1<<f.fractionBits-1)) / float64(int(1)<<f.fractionBits)
	bias := 1<<(f.exponentBits-1) - 1
	var v float64
	switch {
	case exponent == 1<<f.exponentBits-1 && fraction != 0:
		return math.NaN()
	case exponent == 1<<f.exponentBits-1:
		v = math.Inf(1)
	case exponent == 0:
		v = math.Ldexp(fraction, 1-bias)
	default:
		v = math.Ldexp(1+fraction, exponent-bias)
	}
	if h >= 0x8000 {
		v = -v
	}
	return v
}

// nearest returns the bits of the number nearest to v, of two the even one. It
// finds the largest magnitude that is not above v by halving and looks at the next.
func (f layout) nearest(v float64) uint16 {
	infinity := uint16(1<<f.exponentBits-1) << f.fractionBits
	if v != v {
		return infinity | 1<<(f.fractionBits-1)
	}
	var sign uint16
	if math.Signbit(v) {
		sign, v = 0x8000, -v
	}
	if math.IsInf(v, 1) {
		return sign | infinity
	}
	low, high := uint16(0), infinity
	for high-low > 1 {
		if middle := (low + high) / 2; f.value(middle) <= v {
			low = middle
		} else {
			high = middle
		}
	}
	// Infinity stands where the next finite number would.
	upper := math.Ldexp(1, 1<<(f.exponentBits-1))
	if high != infinity {
		upper = f.value(high)
	}
	below, above := v-f.value(low), upper-v
	if above < below || above == below && low&1 == 1 {
		return sign | high
	}
	return sign | low
}

// oracleHalf combines in float32, as the package promises, and rounds once.
func oracleHalf(f layout, op Op, a, b uint16) uint16 {
	r := oracleFloat(op, f.value(a), f.value(b))
	return f.nearest(float64(float32(r)))
}

// hex prints an element as the number that its bytes are.
func hex(e []byte) string {
	var s string
	for i := len(e) - 1; i >= 0; i-- {
		s += fmt.Sprintf("%02x", e[i])
	}
	return "0x" + s
}
