package reduce

import "fmt"

// level is a set of kernels.
type level uint8

const (
	levelScalar level = iota
	levelAVX2
	levelAVX512
)

func (l level) String() string {
	switch l {
	case levelScalar:
		return "scalar"
	case levelAVX2:
		return "avx2"
	case levelAVX512:
		return "avx512"
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// smallest is the number of bytes from which vector kernels are used. They need
// one whole vector, of 32 bytes at least; below that the Go loops take over.
const smallest = 32

// A vectorFunc combines n bytes, at least one vector of its level.
type vectorFunc func(dst, a, b *byte, n uint64)
