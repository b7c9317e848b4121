// Package reduce holds the element-wise kernels of reductions: it combines two
// slices of numbers into a third, as fast as memory allows, with vector
// instructions where the processor has them. Packages gaspi, ssp and collectives
// call it; it knows nothing of ranks.
//
// # What is the same everywhere
//
// The bits of a result depend on the operation and on the two elements, and on
// nothing else: not on the processor, not on the length or alignment of the
// slices, not on which of the two operands came first. Ranks that combine the
// same pairs therefore hold the same bits, whichever code path each of them
// took. For integers, and for floating-point results that are numbers, this is
// the arithmetic itself (IEEE 754, round to nearest, every operation
// commutative). For NaN it is not: processors pass on the payload of the first
// operand, or invent one of their own sign. So a result that is NaN is always
// the one quiet NaN with a clear sign and an empty payload: 0x7FC00000 for
// float32, 0x7FF8000000000000 for float64, 0x7E00 for Float16, 0x7FC0 for
// BFloat16. Payloads of operands are lost.
//
// Half floats are combined in float32 and rounded once. Complex numbers are
// multiplied by the textbook formula, each operation rounded, none fused; their
// parts are NaN, or infinite, each for itself.
//
// # Two ways in
//
// Into takes slices of one type. A Kernel takes bytes, for code that moves
// operands without knowing what they are; KernelOf chooses it once.
package reduce

import (
	"fmt"
	"reflect"
)

// Into stores a[i] op b[i] in dst[i] for every i.
//
// The three slices have the same length. dst may be exactly a, exactly b, or
// both, and may not overlap either of them in any other way; a and b may
// overlap each other freely. Into panics, before it writes anything, if this
// does not hold or if op is not defined for T (see Supports).
//
// Nothing is kept after the return and nothing is allocated. Into does not
// synchronise: the elements must not be written by anyone else meanwhile.
func Into[T Element](op Op, dst, a, b []T) {
	if len(a) != len(dst) || len(b) != len(dst) {
		panicLengths(len(dst), len(a), len(b))
	}
	k := kindOf[T]()
	if !k.supports(op) {
		panic("reduce.Into: " + refusal(k, reflect.TypeFor[T](), op))
	}
	d, x, y := BytesOf(dst), BytesOf(a), BytesOf(b)
	if partlyOverlap(d, x) || partlyOverlap(d, y) {
		panicOverlap()
	}
	into(best, k, op, d, x, y)
}

func panicLengths(dst, a, b int) {
	panic(fmt.Sprintf("reduce.Into: dst has %d elements, a has %d and b has %d; all three must have the same length", dst, a, b))
}

func panicOverlap() {
	panic("reduce.Into: dst partly overlaps an operand; it must be the same slice or separate memory")
}
