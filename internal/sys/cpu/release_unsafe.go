//go:build amd64 && !race

package cpu

import (
	"sync/atomic"
	"unsafe"
)

// StoreRelease64 is StoreRelease of a word of 64 bits, inlined. It is safe because atomic.Uint64 is exactly one such
// word, aligned: a store of it is one step. Every store of this architecture is a release, and the compiler moves none
// behind another one. It may join stores of shorter words that lie beside each other, which is why StoreRelease is none
// of its own.
func StoreRelease64(p *atomic.Uint64, v uint64) { *(*uint64)(unsafe.Pointer(p)) = v }

// CopyRelease is copy(dst, src) and then StoreRelease(word, v) in one call, which asks for the cache line of word
// first. src has at most ShortCopy bytes, and dst at least as many as src; they do not overlap.
func CopyRelease(dst, src []byte, word *atomic.Uint32, v uint32) {
	CopyReleaseTwice(dst, src, nil, word, v)
}

// CopyReleaseTwice is CopyRelease and then StoreRelease(next, v), and asks for the cache line of next first. A nil word is
// not stored; word and next are not the same.
func CopyReleaseTwice(dst, src []byte, word, next *atomic.Uint32, v uint32) {
	dst = dst[:len(src)]
	copyRelease(unsafe.SliceData(dst), unsafe.SliceData(src), uint64(len(src)), word, next, v)
}
