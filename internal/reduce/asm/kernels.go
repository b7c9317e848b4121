package main

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A machine is one set of vector instructions.
type machine struct {
	name  string // as in the names of functions and levels
	width int    // bytes in a vector
	wide  bool   // AVX-512 rather than AVX2
}

var machines = []machine{
	{name: "AVX2", width: 32},
	{name: "AVX512", width: 64, wide: true},
}

// A kernel is one operation on one element layout; several kinds share it where
// the bits of the result do not depend on how the element is read.
type kernel struct {
	op       string
	kinds    []string
	size     int  // bytes in an element
	wideOnly bool // no good instruction before AVX-512
	// combine emits r = x op y. It may overwrite x and y.
	combine func(c *context, x, y reg.VecVirtual) reg.VecVirtual
}

// function returns the name of the assembly function.
func (k kernel) function(m machine) string {
	kind := k.kinds[0]
	if len(k.kinds) > 2 {
		kind = "Bits"
	}
	return strings.ToLower(k.op) + kind + m.name
}

// A context is what the instructions of one function share.
type context struct {
	m machine
	// constant is broadcast to every lane before the loop: the canonical NaN
	// of floats, the sign bit of 64-bit integers.
	constant reg.VecVirtual
}

func (c *context) vector() reg.VecVirtual {
	if c.m.wide {
		return ZMM()
	}
	return YMM()
}

// An instruction of three operands: r = x op y, in the assembler's order y, x, r.
type instruction func(ops ...operand.Op)

// two, three and four turn instructions without masked forms, which the
// assembler declares with exactly their operands, into the common type.
func two(f func(a, b operand.Op)) instruction {
	return func(ops ...operand.Op) { f(ops[0], ops[1]) }
}

func three(f func(a, b, c operand.Op)) instruction {
	return func(ops ...operand.Op) { f(ops[0], ops[1], ops[2]) }
}

func four(f func(a, b, c, d operand.Op)) instruction {
	return func(ops ...operand.Op) { f(ops[0], ops[1], ops[2], ops[3]) }
}

// plain is a combine of a single instruction.
func plain(f instruction) func(*context, reg.VecVirtual, reg.VecVirtual) reg.VecVirtual {
	return func(c *context, x, y reg.VecVirtual) reg.VecVirtual {
		f(y, x, x)
		return x
	}
}

var kernels = list()

func list() []kernel {
	bits := []string{"Int8", "Int16", "Int32", "Int64", "Uint8", "Uint16", "Uint32", "Uint64"}
	both := func(size string) []string { return []string{"Int" + size, "Uint" + size} }
	one := func(kind string) []string { return []string{kind} }
	return []kernel{
		{op: "Sum", kinds: both("8"), size: 1, combine: plain(VPADDB)},
		{op: "Sum", kinds: both("16"), size: 2, combine: plain(VPADDW)},
		{op: "Sum", kinds: both("32"), size: 4, combine: plain(VPADDD)},
		{op: "Sum", kinds: both("64"), size: 8, combine: plain(VPADDQ)},
		{op: "Prod", kinds: both("16"), size: 2, combine: plain(VPMULLW)},
		{op: "Prod", kinds: both("32"), size: 4, combine: plain(VPMULLD)},
		{op: "Prod", kinds: both("64"), size: 8, combine: plain(VPMULLQ), wideOnly: true},
		{op: "Min", kinds: one("Int8"), size: 1, combine: plain(VPMINSB)},
		{op: "Min", kinds: one("Int16"), size: 2, combine: plain(VPMINSW)},
		{op: "Min", kinds: one("Int32"), size: 4, combine: plain(VPMINSD)},
		{op: "Min", kinds: one("Int64"), size: 8, combine: order64(VPMINSQ, true, false)},
		{op: "Min", kinds: one("Uint8"), size: 1, combine: plain(VPMINUB)},
		{op: "Min", kinds: one("Uint16"), size: 2, combine: plain(VPMINUW)},
		{op: "Min", kinds: one("Uint32"), size: 4, combine: plain(VPMINUD)},
		{op: "Min", kinds: one("Uint64"), size: 8, combine: order64(VPMINUQ, true, true)},
		{op: "Max", kinds: one("Int8"), size: 1, combine: plain(VPMAXSB)},
		{op: "Max", kinds: one("Int16"), size: 2, combine: plain(VPMAXSW)},
		{op: "Max", kinds: one("Int32"), size: 4, combine: plain(VPMAXSD)},
		{op: "Max", kinds: one("Int64"), size: 8, combine: order64(VPMAXSQ, false, false)},
		{op: "Max", kinds: one("Uint8"), size: 1, combine: plain(VPMAXUB)},
		{op: "Max", kinds: one("Uint16"), size: 2, combine: plain(VPMAXUW)},
		{op: "Max", kinds: one("Uint32"), size: 4, combine: plain(VPMAXUD)},
		{op: "Max", kinds: one("Uint64"), size: 8, combine: order64(VPMAXUQ, false, true)},
		{op: "And", kinds: bits, size: 1, combine: bitwise(three(VPAND), VPANDD)},
		{op: "Or", kinds: bits, size: 1, combine: bitwise(three(VPOR), VPORD)},
		{op: "Xor", kinds: bits, size: 1, combine: bitwise(three(VPXOR), VPXORD)},
		{op: "Sum", kinds: one("Float32"), size: 4, combine: arithmetic(VADDPS, single)},
		{op: "Sum", kinds: one("Float64"), size: 8, combine: arithmetic(VADDPD, double)},
		{op: "Prod", kinds: one("Float32"), size: 4, combine: arithmetic(VMULPS, single)},
		{op: "Prod", kinds: one("Float64"), size: 8, combine: arithmetic(VMULPD, double)},
		{op: "Min", kinds: one("Float32"), size: 4, combine: extremum(VMINPS, VORPS, single)},
		{op: "Min", kinds: one("Float64"), size: 8, combine: extremum(VMINPD, VORPS, double)},
		{op: "Max", kinds: one("Float32"), size: 4, combine: extremum(VMAXPS, VANDPS, single)},
		{op: "Max", kinds: one("Float64"), size: 8, combine: extremum(VMAXPD, VANDPS, double)},
	}
}
