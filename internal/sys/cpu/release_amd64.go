//go:build amd64 && !race

package cpu

import "sync/atomic"

// ShortCopy is the most bytes that CopyRelease copies.
const ShortCopy = 32

// StoreRelease stores v after all stores that were made before. Unlike a Store of
// package atomic it is not ordered before later loads: the caller goes on while
// the store is on its way to memory, which is what makes it cheap.
func StoreRelease(p *atomic.Uint32, v uint32) { storeRelease(p, v) }

// copyRelease is CopyReleaseTwice of n bytes, up to ShortCopy.
//
//go:noescape
func copyRelease(dst, src *byte, n uint64, word, next *atomic.Uint32, v uint32)
