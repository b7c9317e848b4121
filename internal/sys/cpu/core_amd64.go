package cpu

import "sync/atomic"

// Relax is what a loop does between two looks at a word that another core will
// write: the processor's PAUSE. Without it the processor runs ahead with dozens
// of loads of the word, and throws that work away when the word changes, just
// when every nanosecond counts.
func Relax()

// Prefetch asks for the cache line of p for writing, so that it is on its way
// from the core that has it before the store.
//
//go:noescape
func Prefetch(p *byte)

// PrefetchAll is Prefetch of all cache lines of p. It does not wait for them, but a
// core has no more than about a dozen on their way: what asks for a few kilobytes
// while it works on those before wins most.
//
//go:noescape
func PrefetchAll(p []byte)

// CopyAhead is copy(dst, src) that asks for each cache line of src for writing, a
// kilobyte before it reads it, and for those of a kilobyte behind src.
func CopyAhead(dst, src []byte) int {
	n := min(len(dst), len(src))
	lines := n &^ 63
	if lines > 0 {
		copyAhead(&dst[0], &src[0], uint64(lines))
	}
	copy(dst[lines:], src[lines:])
	return n
}

// copyAhead does that for n bytes, whole lines.
//
//go:noescape
func copyAhead(dst, src *byte, n uint64)

// storeRelease is StoreRelease: every store of this architecture is a release.
//
//go:noescape
func storeRelease(p *atomic.Uint32, v uint32)
