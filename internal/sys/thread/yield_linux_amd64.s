//go:build !portable

#include "textflag.h"

// func Yield()
TEXT ·Yield(SB), NOSPLIT, $0-0
	MOVQ $24, AX // sched_yield
	SYSCALL
	RET
