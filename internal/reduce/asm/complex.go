package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A complexPrecision is how complex numbers of two floats are taken apart.
type complexPrecision struct {
	precision
	multiply, add instruction
	addSub        instruction // AVX2's: subtracts real parts, adds imaginary ones
	xor           instruction
	// real and imaginary repeat one part of every number, swap changes the two.
	real, imaginary, swap func(from, to reg.VecVirtual)
	realSigns             fill // the signs of the real parts
}

var complexSingle = complexPrecision{
	precision: single, multiply: VMULPS, add: VADDPS, addSub: three(VADDSUBPS), xor: VXORPS,
	real:      func(from, to reg.VecVirtual) { VMOVSLDUP(from, to) },
	imaginary: func(from, to reg.VecVirtual) { VMOVSHDUP(from, to) },
	swap:      func(from, to reg.VecVirtual) { VPERMILPS(operand.U8(0xB1), from, to) },
	realSigns: fill64("realSigns32", VBROADCASTSD, 1<<31),
}

var complexDouble = complexPrecision{
	precision: double, multiply: VMULPD, add: VADDPD, addSub: three(VADDSUBPD), xor: VXORPD,
	real:      func(from, to reg.VecVirtual) { VMOVDDUP(from, to) },
	imaginary: func(from, to reg.VecVirtual) { VPERMILPD(operand.U8(0xFF), from, to) },
	swap:      func(from, to reg.VecVirtual) { VPERMILPD(operand.U8(0x55), from, to) },
	realSigns: fill128("realSigns64", VBROADCASTF64X2, 1<<63),
}

// product is the textbook product without fused operations, which would round
// the two halves of a sum differently and so depend on the order of operands.
func product(p complexPrecision) func(*context, reg.VecVirtual, reg.VecVirtual) reg.VecVirtual {
	return func(c *context, x, y reg.VecVirtual) reg.VecVirtual {
		swapped, re, im := c.vector(), c.vector(), c.vector()
		p.swap(x, swapped)
		p.real(y, re)
		p.imaginary(y, im)
		p.multiply(re, x, x)
		p.multiply(im, swapped, swapped)
		if c.m.wide {
			p.xor(c.filled(p.realSigns), swapped, swapped)
			p.add(swapped, x, x)
		} else {
			p.addSub(swapped, x, x)
		}
		c.canonical(p.precision, x, x, x)
		return x
	}
}
