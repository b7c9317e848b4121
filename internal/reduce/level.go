package reduce

import "github.com/gaspi-go/gaspi-go/internal/simd"

// best is the set of kernels that are used. It is set once, before main, and never written again.
var best = simd.Best()

// smallest is the number of bytes from which vector kernels are used. They need
// one whole vector, of 32 bytes at least; below that the Go loops take over.
const smallest = 32

// A vectorFunc combines n bytes, at least one vector of its level.
type vectorFunc func(dst, a, b *byte, n uint64)
