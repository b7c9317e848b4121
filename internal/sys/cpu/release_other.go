//go:build !amd64 || race

package cpu

import "sync/atomic"

// ShortCopy is the most bytes that CopyRelease copies: here two calls do as well.
const ShortCopy = -1

// StoreRelease stores v after all stores that were made before. Where there is no
// cheaper way, or the race detector must see it, it is ordered like any Store.
func StoreRelease(p *atomic.Uint32, v uint32) { p.Store(v) }

// StoreRelease64 is StoreRelease of a word of 64 bits.
func StoreRelease64(p *atomic.Uint64, v uint64) { p.Store(v) }

// CopyRelease is copy(dst, src) and then StoreRelease(word, v).
func CopyRelease(dst, src []byte, word *atomic.Uint32, v uint32) {
	copy(dst, src)
	word.Store(v)
}

// CopyReleaseTwice is CopyRelease and then StoreRelease(next, v).
func CopyReleaseTwice(dst, src []byte, word, next *atomic.Uint32, v uint32) {
	CopyRelease(dst, src, word, v)
	next.Store(v)
}
