package shm

import (
	"sync/atomic"
	"unsafe"
)

// wordsOf views mem as 64-bit words. It is safe because mem is a mapping, which
// begins at a page, or a part of one that begins at a cache line, and
// atomic.Uint64 is exactly one such word.
func wordsOf(mem []byte) []atomic.Uint64 {
	return unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/8)
}
