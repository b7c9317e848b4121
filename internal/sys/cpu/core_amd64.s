#include "textflag.h"

// func Relax()
TEXT ·Relax(SB), NOSPLIT, $0-0
	PAUSE
	RET

// func Prefetch(p *byte)
TEXT ·Prefetch(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08 // PREFETCHW (AX), a no-op where there is none
	RET

// func PrefetchAll(p []byte)
TEXT ·PrefetchAll(SB), NOSPLIT, $0-24
	MOVQ p_base+0(FP), AX
	MOVQ p_len+8(FP), BX
	ADDQ AX, BX
	ANDQ $~63, AX
	JMP  check
line:
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08 // PREFETCHW (AX)
	ADDQ $64, AX
check:
	CMPQ AX, BX
	JLT  line
	RET

// func copyAhead(dst, src *byte, n uint64)
// n is a multiple of 64 and not 0.
TEXT ·copyAhead(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	ADDQ SI, CX
copyLine:
	BYTE $0x0F; BYTE $0x0D; BYTE $0x8E; LONG $1024 // PREFETCHW 1024(SI)
	MOVOU 0(SI), X0
	MOVOU 16(SI), X1
	MOVOU 32(SI), X2
	MOVOU 48(SI), X3
	MOVOU X0, 0(DI)
	MOVOU X1, 16(DI)
	MOVOU X2, 32(DI)
	MOVOU X3, 48(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	CMPQ SI, CX
	JLT  copyLine
	RET

// func storeRelease(p *atomic.Uint32, v uint32)
TEXT ·storeRelease(SB), NOSPLIT, $0-12
	MOVQ p+0(FP), AX
	MOVL v+8(FP), BX
	MOVL BX, (AX)
	RET
