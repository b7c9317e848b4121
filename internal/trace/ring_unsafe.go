package trace

import (
	"sync/atomic"
	"unsafe"
)

// counterAt is a word of the header.
func counterAt(mem []byte, word int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&mem[:8*(word+1)][8*word])) // mapped memory begins at a page
}

// byteOf is where a record begins.
func byteOf(s *cell) *byte { return (*byte)(unsafe.Pointer(s)) }

// cellsOf is the memory of records.
func cellsOf(mem []byte) []cell {
	_ = [1]byte{}[unsafe.Sizeof(cell{})-8*recordWords] // a cell is a record
	return unsafe.Slice((*cell)(unsafe.Pointer(&mem[0])), len(mem)/(8*recordWords))
}
