package notify

import (
	"sync/atomic"
	"unsafe"
)

// wordsOf views count aligned 32-bit words at the start of mem as atomics. It
// is safe because mem is at least 4*count bytes (the caller's check), aligned
// (checked here), and atomic.Uint32 is exactly one 32-bit word.
func wordsOf(mem []byte, count int) []atomic.Uint32 {
	if !aligned(mem) {
		panic("notify: array memory is not aligned to 4 bytes")
	}
	return unsafe.Slice((*atomic.Uint32)(unsafe.Pointer(unsafe.SliceData(mem))), count)
}

// aligned reports whether mem begins at a multiple of 4.
func aligned(mem []byte) bool { return uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%4 == 0 }

// byteOf is the first byte of a word. It is safe because it is never more than an
// address here.
func byteOf(word *atomic.Uint32) *byte { return (*byte)(unsafe.Pointer(word)) }
