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

// func storeRelease(p *atomic.Uint32, v uint32)
TEXT ·storeRelease(SB), NOSPLIT, $0-12
	MOVQ p+0(FP), AX
	MOVL v+8(FP), BX
	MOVL BX, (AX)
	RET
