package datatype

import "math"

// A Float16 is an IEEE 754 binary16 number: a sign, 5 bits of exponent, 10 of
// fraction. The values are the bits; convert with Float32 and ToFloat16.
//
// Reductions take exactly this type as a number: one defined from it, or from uint16, is an
// unsigned integer to them.
type Float16 uint16

// A BFloat16 is the upper half of a float32: a sign, 8 bits of exponent, 7 of
// fraction. The rules for Float16 hold for it too.
type BFloat16 uint16

// The infinities and the only NaNs that ToFloat16 and ToBFloat16 return.
const (
	inf16, nan16       = 0x7C00, 0x7E00
	infBrain, nanBrain = 0x7F80, 0x7FC0
)

// Float32 returns the same number, exactly; a NaN gives a NaN.
func (h Float16) Float32() float32 {
	u := uint32(h&0x7FFF) << 13
	if u >= inf16<<13 {
		u |= 0x7F800000
	} else {
		// The exponents of the two formats count from 15 and from 127. As a
		// product, the correction also normalises what is denormal in h.
		u = math.Float32bits(math.Float32frombits(u) * 0x1p112)
	}
	return math.Float32frombits(u | uint32(h&0x8000)<<16)
}

// ToFloat16 returns the Float16 nearest to f, of two the even one; from 65520
// on infinity; 0x7E00 for every NaN.
func ToFloat16(f float32) Float16 {
	u := math.Float32bits(f)
	sign := Float16(u >> 16 & 0x8000)
	u &= 0x7FFFFFFF
	switch {
	case u > 0x7F800000:
		return nan16
	case u >= 0x477FF000: // 65520
		return sign | inf16
	case u < 0x38800000: // 2^-14: denormal
		// The last place of a half is 2^-24, as that of a denormal Float16, so
		// that the addition rounds where it should.
		u = math.Float32bits(math.Float32frombits(u)+0.5) - 0x3F000000
		return sign | Float16(u)
	}
	u += 0xFFF + u>>13&1
	return sign | Float16((u-0x38000000)>>13)
}

// Float32 returns the same number, exactly; a NaN gives a NaN.
func (h BFloat16) Float32() float32 { return math.Float32frombits(uint32(h) << 16) }

// ToBFloat16 returns the BFloat16 nearest to f, of two the even one, which may be
// infinity; 0x7FC0 for every NaN.
func ToBFloat16(f float32) BFloat16 {
	u := math.Float32bits(f)
	if u&0x7FFFFFFF > 0x7F800000 {
		return nanBrain
	}
	return BFloat16((u + 0x7FFF + u>>16&1) >> 16)
}
