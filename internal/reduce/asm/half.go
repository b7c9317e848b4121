package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A format is a 16-bit float: sign, exponent, fraction. Whether an element is
// NaN, and which of two is larger, its bits say without arithmetic.
type format struct {
	infinity, nan fill // in every 16 bits
}

var (
	magnitude = fill32("magnitude16", VPBROADCASTD, 0x7FFF7FFF) // all but the signs

	binary16 = format{
		infinity: fill32("infinity16", VPBROADCASTD, 0x7C007C00),
		nan:      fill32("nan16", VPBROADCASTD, 0x7E007E00),
	}
	brain16 = format{
		infinity: fill32("infinityBrain", VPBROADCASTD, 0x7F807F80),
		nan:      fill32("nanBrain", VPBROADCASTD, 0x7FC07FC0),
	}
)

// and emits x & y in a new register.
func (c *context) and(x, y reg.VecVirtual) reg.VecVirtual {
	r := c.vector()
	c.pick(three(VPAND), VPANDD)(y, x, r)
	return r
}

// canonical puts the one NaN into r wherever size, an element without its sign,
// is above infinity.
func (f format) canonical(c *context, r, size reg.VecVirtual) {
	if c.m.wide {
		const above = operand.U8(6) // not less than or equal
		mask := K()
		VPCMPUW(above, c.filled(f.infinity), size, mask)
		VMOVDQU16(c.filled(f.nan), mask, r)
		return
	}
	mask := YMM()
	VPCMPGTW(c.filled(f.infinity), size, mask)
	VPBLENDVB(mask, c.filled(f.nan), r, r)
}

// arithmetic16 converts halves of a vector from memory to float32, combines
// them there and rounds once. The processor needs F16C.
func arithmetic16(f instruction) func(*context, operand.Mem, operand.Mem) reg.VecVirtual {
	return func(c *context, a, b operand.Mem) reg.VecVirtual {
		const nearestEven = operand.U8(0)
		part := func(disp int) reg.VecVirtual {
			x, y := c.vector(), c.vector()
			VCVTPH2PS(a.Offset(disp), x)
			VCVTPH2PS(b.Offset(disp), y)
			f(y, x, x)
			h := c.halfVector()
			VCVTPS2PH(nearestEven, x, h)
			return h
		}
		low, high, r := part(0), part(c.m.width/2), c.vector()
		if c.m.wide {
			VINSERTI64X4(operand.U8(1), high, low.AsZ(), r)
		} else {
			VINSERTI128(operand.U8(1), high, low.AsY(), r)
		}
		binary16.canonical(c, r, c.and(r, c.filled(magnitude)))
		return r
	}
}

func (c *context) halfVector() reg.VecVirtual {
	if c.m.wide {
		return YMM()
	}
	return XMM()
}

// extremum16 orders 16-bit floats as integers, once the bits below the sign are
// flipped in negative ones: -0 then comes just below +0.
func extremum16(order instruction, f format) func(*context, reg.VecVirtual, reg.VecVirtual) reg.VecVirtual {
	flip := func(c *context, x reg.VecVirtual) {
		signs := c.vector()
		VPSRAW(operand.U8(15), x, signs)
		VPSRLW(operand.U8(1), signs, signs)
		c.pick(three(VPXOR), VPXORD)(signs, x, x)
	}
	return func(c *context, x, y reg.VecVirtual) reg.VecVirtual {
		size, other := c.and(x, c.filled(magnitude)), c.and(y, c.filled(magnitude))
		VPMAXUW(other, size, size)
		flip(c, x)
		flip(c, y)
		order(y, x, x)
		flip(c, x)
		f.canonical(c, x, size)
		return x
	}
}

var (
	oddHalves = fill32("oddHalves", VPBROADCASTD, 0xFFFF0000)
	belowHalf = fill32("belowHalf", VPBROADCASTD, 0x00007FFF)
)

// arithmeticBrain works on the elements at odd and at even places apart: each is
// the upper half of a float32.
//
// Rounding adds just below half a unit of the last place kept, or half of it if
// that place is odd, and cuts. It carries no NaN away: the lower half of a NaN
// is zero, because that of both operands was and the processor's own NaN is
// 0xFFC00000.
func arithmeticBrain(f instruction) func(*context, reg.VecVirtual, reg.VecVirtual) reg.VecVirtual {
	round := func(c *context, x reg.VecVirtual) {
		last := c.vector()
		VPSLLD(operand.U8(15), x, last)
		VPSRLD(operand.U8(31), last, last)
		VPADDD(c.filled(belowHalf), x, x)
		VPADDD(last, x, x)
	}
	return func(c *context, x, y reg.VecVirtual) reg.VecVirtual {
		odd, odd2 := c.and(x, c.filled(oddHalves)), c.and(y, c.filled(oddHalves))
		f(odd2, odd, odd)
		round(c, odd)
		VPSLLD(operand.U8(16), x, x)
		VPSLLD(operand.U8(16), y, y)
		f(y, x, x)
		round(c, x)
		VPSRLD(operand.U8(16), x, x)
		if c.m.wide {
			const firstOrBoth = operand.U8(0xF8) // x | odd & mask
			VPTERNLOGD(firstOrBoth, c.filled(oddHalves), odd, x)
		} else {
			const odds = operand.U8(0xAA)
			VPBLENDW(odds, odd, x, x)
		}
		brain16.canonical(c, x, c.and(x, c.filled(magnitude)))
		return x
	}
}
