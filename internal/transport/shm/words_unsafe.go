package shm

import (
	"sync/atomic"
	"unsafe"
)

// wordsOf views page-aligned mem as 64-bit words. It is safe because a mapping
// begins at a page and atomic.Uint64 is exactly one such word.
func wordsOf(mem []byte) []atomic.Uint64 {
	return unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/8)
}
