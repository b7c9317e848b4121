//go:build amd64 && !race

package sys

import (
	"sync/atomic"
	"unsafe"
)

// StoreRelease64 is StoreRelease of a word of 64 bits, inlined. It is safe because atomic.Uint64 is exactly one such
// word, aligned: a store of it is one step. Every store of this architecture is a release, and the compiler moves none
// behind another one. It may join stores of shorter words that lie beside each other, which is why StoreRelease is none
// of its own.
func StoreRelease64(p *atomic.Uint64, v uint64) { *(*uint64)(unsafe.Pointer(p)) = v }
