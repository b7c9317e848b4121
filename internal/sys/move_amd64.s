//go:build !race

#include "textflag.h"

// func distance(dst, src *byte) uint64
TEXT ·distance(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), AX
	SUBQ src+8(FP), AX
	MOVQ AX, ret+16(FP)
	RET

// func move(dst, src *byte, n uint64)
TEXT ·move(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	REP; MOVSB
	RET
