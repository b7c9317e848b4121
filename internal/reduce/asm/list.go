package main

import (
	. "github.com/mmcloughlin/avo/build"
)

// list returns every kernel. Its order is that of the generated files.
func list() []kernel {
	kernels := integers()
	kernels = append(kernels, floats()...)
	kernels = append(kernels, halves()...)
	return append(kernels, complexes()...)
}

func one(kind string) []string { return []string{kind} }

func integers() []kernel {
	bits := []string{"Int8", "Int16", "Int32", "Int64", "Uint8", "Uint16", "Uint32", "Uint64"}
	both := func(size string) []string { return []string{"Int" + size, "Uint" + size} }
	return []kernel{
		{op: "Sum", kinds: both("8"), size: 1, combine: plain(VPADDB)},
		{op: "Sum", kinds: both("16"), size: 2, combine: plain(VPADDW)},
		{op: "Sum", kinds: both("32"), size: 4, fold: true, combine: plain(VPADDD)},
		{op: "Sum", kinds: both("64"), size: 8, fold: true, combine: plain(VPADDQ)},
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
	}
}

// floats are also the sums of complex numbers, which are the sums of their parts.
func floats() []kernel {
	return []kernel{
		{op: "Sum", kinds: []string{"Float32", "Complex64"}, size: 4, fold: true, combine: plain(VADDPS), finish: canonicalAtEnd(single)},
		{op: "Sum", kinds: []string{"Float64", "Complex128"}, size: 8, fold: true, combine: plain(VADDPD), finish: canonicalAtEnd(double)},
		{op: "Prod", kinds: one("Float32"), size: 4, combine: plain(VMULPS), finish: canonicalAtEnd(single)},
		{op: "Prod", kinds: one("Float64"), size: 8, combine: plain(VMULPD), finish: canonicalAtEnd(double)},
		{op: "Min", kinds: one("Float32"), size: 4, combine: extremum(VMINPS, VORPS, single)},
		{op: "Min", kinds: one("Float64"), size: 8, combine: extremum(VMINPD, VORPS, double)},
		{op: "Max", kinds: one("Float32"), size: 4, combine: extremum(VMAXPS, VANDPS, single)},
		{op: "Max", kinds: one("Float64"), size: 8, combine: extremum(VMAXPD, VANDPS, double)},
	}
}

// halves are bound by their instructions, not by loads and stores, so that more
// than two vectors in a round would only cost registers.
func halves() []kernel {
	return []kernel{
		{op: "Sum", kinds: one("Float16"), size: 2, unroll: 2, fromMemory: arithmetic16(VADDPS)},
		{op: "Prod", kinds: one("Float16"), size: 2, unroll: 2, fromMemory: arithmetic16(VMULPS)},
		{op: "Min", kinds: one("Float16"), size: 2, unroll: 2, combine: extremum16(VPMINSW, binary16)},
		{op: "Max", kinds: one("Float16"), size: 2, unroll: 2, combine: extremum16(VPMAXSW, binary16)},
		{op: "Sum", kinds: one("BFloat16"), size: 2, unroll: 2, combine: arithmeticBrain(VADDPS)},
		{op: "Prod", kinds: one("BFloat16"), size: 2, unroll: 2, combine: arithmeticBrain(VMULPS)},
		{op: "Min", kinds: one("BFloat16"), size: 2, unroll: 2, combine: extremum16(VPMINSW, brain16)},
		{op: "Max", kinds: one("BFloat16"), size: 2, unroll: 2, combine: extremum16(VPMAXSW, brain16)},
	}
}

func complexes() []kernel {
	return []kernel{
		{op: "Prod", kinds: one("Complex64"), size: 8, unroll: 2, combine: product(complexSingle)},
		{op: "Prod", kinds: one("Complex128"), size: 16, unroll: 2, combine: product(complexDouble)},
	}
}
