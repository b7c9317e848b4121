package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// streamCopy emits a copy past the caches. AVX-512 would not make memory faster.
func streamCopy() {
	const width, round = 32, 4 * 32
	TEXT("copyStream", NOSPLIT, "func(dst, src *byte, n uint64)")
	Doc("copyStream copies n bytes, at least 192, between memory that does not overlap.")
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())

	Comment("To the start of a cache line, which has to be written as a whole.")
	for disp := 0; disp < 64; disp += width {
		x := YMM()
		VMOVDQU(operand.Mem{Base: src, Disp: disp}, x)
		VMOVDQU(x, operand.Mem{Base: dst, Disp: disp})
	}
	skip := GP64()
	MOVQ(dst, skip)
	NEGQ(skip)
	ANDQ(operand.I8(63), skip)
	ADDQ(skip, dst)
	ADDQ(skip, src)
	SUBQ(skip, n)

	Label("rounds")
	var vectors []reg.VecVirtual
	for disp := 0; disp < round; disp += width {
		x := YMM()
		VMOVDQU(operand.Mem{Base: src, Disp: disp}, x)
		vectors = append(vectors, x)
	}
	for i, x := range vectors {
		VMOVNTDQ(x, operand.Mem{Base: dst, Disp: i * width})
	}
	ADDQ(operand.I32(round), dst)
	ADDQ(operand.I32(round), src)
	SUBQ(operand.I32(round), n)
	CMPQ(n, operand.I32(round))
	JGE(operand.LabelRef("rounds"))

	Comment("The last bytes, again in part: the round before ends among them.")
	for disp := -round; disp < 0; disp += width {
		x := YMM()
		VMOVDQU(operand.Mem{Base: src, Index: n, Scale: 1, Disp: disp}, x)
		VMOVDQU(x, operand.Mem{Base: dst, Index: n, Scale: 1, Disp: disp})
	}
	Comment("Streamed stores are not ordered with others. A flag that is stored after")
	Comment("the copy must not be seen before the data.")
	SFENCE()
	VZEROUPPER()
	RET()
}
