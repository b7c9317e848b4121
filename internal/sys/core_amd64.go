package sys

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

// storeRelease is StoreRelease: every store of this architecture is a release.
//
//go:noescape
func storeRelease(p *atomic.Uint32, v uint32)
