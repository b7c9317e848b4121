#include "textflag.h"

// func Ticks() int64
TEXT ·Ticks(SB), NOSPLIT, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func cpuid(leaf uint32) uint32
TEXT ·cpuid(SB), NOSPLIT, $0-12
	MOVL leaf+0(FP), AX
	MOVL $0, CX
	CPUID
	MOVL AX, ret+8(FP)
	RET

// func cpuidPower() uint32
TEXT ·cpuidPower(SB), NOSPLIT, $0-4
	MOVL $0x80000007, AX
	MOVL $0, CX
	CPUID
	MOVL DX, ret+0(FP)
	RET

// func Goroutine() uintptr
// It is where the runtime keeps the goroutine.
TEXT ·Goroutine(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET
