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

// smallest returns the number of bytes from which the kernels of l are used. They
// need one whole vector; below it the Go loops take over.
func (l level) smallest() uint64 {
	if l == levelAVX512 {
		return 64
	}
	return 32
}

// pair is an element type and an operation in one switchable value.
type pair uint8

const opBits = 3

func makePair(k kind, op Op) pair { return pair(k)<<opBits | pair(op) }
