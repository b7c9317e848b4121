// Package simd says which vector instructions kernels in assembly may use on this processor.
package simd

import "fmt"

// A Level is a set of vector instructions, which has those of all lower levels.
type Level uint8

// Scalar is what Go compiles to. AVX2 is vectors of 32 bytes, with fused multiplication and addition and
// with float16 conversions. AVX512 is vectors of 64 bytes, of the subsets F, BW and DQ.
const (
	Scalar Level = iota
	AVX2
	AVX512
)

// String returns the name of the level.
func (l Level) String() string {
	switch l {
	case Scalar:
		return "scalar"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}
