package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A machine is a set of vector instructions.
type machine struct {
	name    string
	width   int  // bytes of a vector
	wide    bool // AVX-512, with 32 registers, rather than AVX2, with 16
	radices []int
}

var machines = []machine{
	{name: "AVX2", width: 32, radices: []int{2, 3, 4, 5, 8}},
	{name: "AVX512", width: 64, wide: true, radices: []int{2, 3, 4, 5, 8, 16}},
}

func (m machine) register() reg.VecVirtual {
	if m.wide {
		return ZMM()
	}
	return YMM()
}

// A vectorOp has its destination last; its other operands are in the order of Go's assembler, which
// is the reverse of the manuals'.
type vectorOp func(...operand.Op)

// A precision is what differs between element types.
type precision struct {
	element            string
	size               int      // bytes
	load               vectorOp // loads or stores
	broadcast          vectorOp // fills a vector with a number of memory
	add, sub, mul, xor vectorOp
	mulBy              vectorOp // by a number of memory (AVX-512)
	multiplyAdd        vectorOp // r += a x b
	addSub, addSubBy   vectorOp // r = r x a - b in real parts, + b in imaginary ones; addSubBy by a number of memory
	swap               func(from, to operand.Op)
}

var precisions = []precision{
	{
		element: "float64", size: 8, load: VMOVUPD, broadcast: VBROADCASTSD,
		add: VADDPD, sub: VSUBPD, mul: VMULPD, xor: VXORPD, mulBy: VMULPD_BCST,
		multiplyAdd: VFMADD231PD, addSub: VFMADDSUB132PD, addSubBy: VFMADDSUB132PD_BCST,
		swap: func(from, to operand.Op) { VPERMILPD(operand.U8(0x55), from, to) },
	},
	{
		element: "float32", size: 4, load: VMOVUPS, broadcast: VBROADCASTSS,
		add: VADDPS, sub: VSUBPS, mul: VMULPS, xor: VXORPS, mulBy: VMULPS_BCST,
		multiplyAdd: VFMADD231PS, addSub: VFMADDSUB132PS, addSubBy: VFMADDSUB132PS_BCST,
		swap: func(from, to operand.Op) { VPERMILPS(operand.U8(0xB1), from, to) },
	},
}

// constants are the vectors in memory, by name.
var constants = map[string]operand.Mem{}

// pair is a vector in memory of pairs of numbers.
func (p precision) pair(re, im float64) operand.Mem {
	name := fmt.Sprintf("pair%d_%x_%x", p.size, math.Float64bits(re), math.Float64bits(im))
	m, ok := constants[name]
	if !ok {
		m = GLOBL(name, attr.RODATA|attr.NOPTR)
		const widest = 64
		for at := 0; at < widest; at += 2 * p.size {
			p.data(at, re)
			p.data(at+p.size, im)
		}
		constants[name] = m
	}
	return m
}

func (p precision) data(at int, v float64) {
	if p.size == 4 {
		DATA(at, operand.U32(math.Float32bits(float32(v))))
	} else {
		DATA(at, operand.U64(math.Float64bits(v)))
	}
}

// all is a vector in memory of one number.
func (p precision) all(v float64) operand.Mem { return p.pair(v, v) }

// negativeImaginary is a vector of which exclusive or changes the signs of imaginary parts.
func (p precision) negativeImaginary() operand.Mem { return p.pair(0, math.Copysign(0, -1)) }
