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

// func copyRelease(dst, src *byte, n uint64, word, next *atomic.Uint32, v uint32)
// Two moves that may overlap copy n bytes; the stores of the words come after them. A word is stored once: its
// reader may have taken what it was before a second store.
TEXT ·copyRelease(SB), NOSPLIT, $0-44
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ word+24(FP), BX
	MOVQ next+32(FP), AX
	MOVL v+40(FP), DX
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08 // PREFETCHW (AX)
	CMPQ CX, $8
	JB   below8
	CMPQ CX, $16
	JA   above16
	MOVQ (SI), R8
	MOVQ -8(SI)(CX*1), R9
	MOVQ R8, (DI)
	MOVQ R9, -8(DI)(CX*1)
	JMP  store
above16:
	MOVOU (SI), X0
	MOVOU -16(SI)(CX*1), X1
	MOVOU X0, (DI)
	MOVOU X1, -16(DI)(CX*1)
	JMP  store
below8:
	CMPQ CX, $4
	JB   below4
	MOVL (SI), R8
	MOVL -4(SI)(CX*1), R9
	MOVL R8, (DI)
	MOVL R9, -4(DI)(CX*1)
	JMP  store
below4:
	TESTQ CX, CX
	JE   store
	MOVBLZX (SI), R8
	MOVBLZX -1(SI)(CX*1), R9
	SHRQ $1, CX
	MOVBLZX (SI)(CX*1), R10
	MOVB R8, (DI)
	MOVB R10, (DI)(CX*1)
	MOVQ n+16(FP), CX
	MOVB R9, -1(DI)(CX*1)
store:
	TESTQ BX, BX
	JE   last
	MOVL DX, (BX)
last:
	MOVL DX, (AX)
	RET
