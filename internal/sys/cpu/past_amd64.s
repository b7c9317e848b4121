//go:build !race

#include "textflag.h"

// func copyPast(dst, src *byte, n uint64)
// n is a multiple of 64 and not 0, dst one, too. The fence has what was written seen before what is
// stored next.
TEXT ·copyPast(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	ADDQ SI, CX
line:
	PREFETCHNTA 512(SI)
	MOVOU 0(SI), X0
	MOVOU 16(SI), X1
	MOVOU 32(SI), X2
	MOVOU 48(SI), X3
	MOVNTO X0, 0(DI)
	MOVNTO X1, 16(DI)
	MOVNTO X2, 32(DI)
	MOVNTO X3, 48(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	CMPQ SI, CX
	JLT  line
	SFENCE
	RET
