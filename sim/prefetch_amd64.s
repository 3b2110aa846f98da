#include "textflag.h"

// func prefetch(t *task, sp uintptr)
// The first line of t, and those of a stack around sp: parked frames lie above it, what a switch writes below.
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVQ t+0(FP), AX
	MOVQ sp+8(FP), BX
	PREFETCHT0 (AX)
	PREFETCHT0 -192(BX)
	PREFETCHT0 -128(BX)
	PREFETCHT0 -64(BX)
	PREFETCHT0 (BX)
	PREFETCHT0 64(BX)
	PREFETCHT0 128(BX)
	RET
