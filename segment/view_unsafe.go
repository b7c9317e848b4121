package segment

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// Element is what a typed view may consist of: fixed size, no pointers.
type Element interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int |
		~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// View is the memory of s from byte offset as count elements of type T,
// aliased. The offset must be a multiple of T's alignment.
//
// It is safe because the range lies in the segment, T has no pointers, every
// bit pattern is a T, and the alignment is checked.
func View[T Element](s *Segment, offset uint64, count int) ([]T, error) {
	var one T
	size := uint64(unsafe.Sizeof(one))
	if count < 0 {
		return nil, fmt.Errorf("%w: count %d is negative", base.ErrOutOfRange, count)
	}
	if uint64(count) > sizeMax/size {
		return nil, outOfRange(offset, uint64(count), s.Size())
	}
	mem, err := s.Bytes(offset, uint64(count)*size)
	if err != nil {
		return nil, err
	}
	p := unsafe.Pointer(unsafe.SliceData(mem))
	if align := uintptr(unsafe.Alignof(one)); uintptr(p)%align != 0 {
		return nil, fmt.Errorf("%w: byte %d of the segment does not suit elements that need a multiple of %d",
			base.ErrUnaligned, offset, align)
	}
	return unsafe.Slice((*T)(p), count), nil
}

// BytesOf is the memory of xs as bytes, aliased. It is safe for the same
// reasons as View, in the other direction.
func BytesOf[T Element](xs []T) []byte {
	var one T
	p := unsafe.Pointer(unsafe.SliceData(xs))
	return unsafe.Slice((*byte)(p), len(xs)*int(unsafe.Sizeof(one)))
}

// OffsetOf is where mem lies in the segment's data, in bytes, and whether all of
// it does. Empty memory lies nowhere.
func (s *Segment) OffsetOf(mem []byte) (offset uint64, ok bool) {
	if len(mem) == 0 || len(s.data) == 0 {
		return 0, false
	}
	// Addresses are compared and nothing is made of them. Both slices are alive.
	start := uintptr(unsafe.Pointer(unsafe.SliceData(s.data)))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	offset = uint64(at - start)
	return offset, at >= start && offset < s.Size() && uint64(len(mem)) <= s.Size()-offset
}

// Word is the 64-bit word at byte offset, for atomics. The offset must be a
// multiple of 8 and the word in the segment.
func (s *Segment) Word(offset uint64) (*atomic.Uint64, error) {
	size := uint64(len(s.data))
	if offset > size || size-offset < 8 {
		return nil, outOfRange(offset, 8, size)
	}
	p := unsafe.Pointer(unsafe.SliceData(s.data[offset:]))
	if offset%8 != 0 || uintptr(p)%8 != 0 {
		return nil, fmt.Errorf("%w: byte %d; a 64-bit atomic needs a multiple of 8", base.ErrUnaligned, offset)
	}
	// Safe: 8 bytes of the segment, aligned, and atomic.Uint64 is one such word.
	return (*atomic.Uint64)(p), nil
}

// heap allocates n zeroed bytes that start at a multiple of 8.
func heap(n uint64) []byte {
	words := make([]uint64, (n+7)/8)
	// Safe: the words hold at least n bytes and have no pointers.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
}

// Of is mem as elements of type T, aliased. mem must begin at an address that
// suits T and be a whole number of elements long; Of panics otherwise.
func Of[T Element](mem []byte) []T {
	var one T
	size := int(unsafe.Sizeof(one))
	p := unsafe.Pointer(unsafe.SliceData(mem))
	if uintptr(p)%unsafe.Alignof(one) != 0 || len(mem)%size != 0 {
		panic(fmt.Sprintf("segment: %d bytes at %p are not elements of %d bytes", len(mem), p, size))
	}
	return unsafe.Slice((*T)(p), len(mem)/size)
}
