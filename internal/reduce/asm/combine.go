package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bitwise is plain for instructions whose AVX-512 form has another name.
func bitwise(narrow, wide instruction) func(*context, reg.VecVirtual, reg.VecVirtual) reg.VecVirtual {
	return func(c *context, x, y reg.VecVirtual) reg.VecVirtual {
		c.pick(narrow, wide)(y, x, x)
		return x
	}
}

func (c *context) pick(narrow, wide instruction) instruction {
	if c.m.wide {
		return wide
	}
	return narrow
}

// order64 is the minimum or maximum of 64-bit integers. AVX2 has no instruction
// for it but a signed comparison, which also orders unsigned numbers once their
// top bits are flipped.
func order64(wide instruction, minimum, unsigned bool) func(*context, reg.VecVirtual, reg.VecVirtual) reg.VecVirtual {
	return func(c *context, x, y reg.VecVirtual) reg.VecVirtual {
		if c.m.wide {
			wide(y, x, x)
			return x
		}
		left, right := x, y
		if unsigned {
			sign := c.signs64()
			left, right = YMM(), YMM()
			VPXOR(sign, x, left)
			VPXOR(sign, y, right)
		}
		mask := YMM()
		if minimum {
			VPCMPGTQ(right, left, mask) // left > right: take y
		} else {
			VPCMPGTQ(left, right, mask) // right > left: take y
		}
		VPBLENDVB(mask, y, x, x)
		return x
	}
}

// A precision is the instructions that differ between float32 and float64.
type precision struct {
	compare, blend instruction // blend is AVX2's
	move           instruction // masked, AVX-512's
	nan            fill
}

var single = precision{
	compare: VCMPPS, blend: four(VBLENDVPS), move: VMOVAPS,
	nan: fill32("nan32", VBROADCASTSS, 0x7FC00000),
}

var double = precision{
	compare: VCMPPD, blend: four(VBLENDVPD), move: VMOVAPD,
	nan: fill64("nan64", VBROADCASTSD, 0x7FF8000000000000),
}

// unordered is the predicate that holds if either operand is NaN.
const unordered = operand.U8(3)

// canonical puts the one NaN into r wherever x or y is NaN. x and y may be r.
func (c *context) canonical(p precision, r, x, y reg.VecVirtual) {
	if c.m.wide {
		mask := K()
		p.compare(unordered, y, x, mask)
		p.move(c.filled(p.nan), mask, r)
		return
	}
	mask := YMM()
	p.compare(unordered, y, x, mask)
	p.blend(mask, c.filled(p.nan), r, r)
}

// canonicalAtEnd is the finish of plain float instructions, whose result may be a
// NaN that depends on the order of the operands or on the processor. Until then
// any NaN will do, since all of them stay NaN.
func canonicalAtEnd(p precision) func(*context, reg.VecVirtual) {
	return func(c *context, r reg.VecVirtual) { c.canonical(p, r, r, r) }
}

// extremum is the minimum or maximum of floats. The instruction returns its
// second source for two zeros or any NaN, so it is run both ways round: the two
// results are equal but for zeros, whose signs join (or: -0 wins, and: +0 wins)
// and for NaN, which is replaced.
func extremum(f, join instruction, p precision) func(*context, reg.VecVirtual, reg.VecVirtual) reg.VecVirtual {
	return func(c *context, x, y reg.VecVirtual) reg.VecVirtual {
		r, s := c.vector(), c.vector()
		f(y, x, r)
		f(x, y, s)
		join(s, r, r)
		c.canonical(p, r, x, y)
		return r
	}
}
