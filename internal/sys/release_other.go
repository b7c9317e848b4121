//go:build !amd64 || race

package sys

import "sync/atomic"

// StoreRelease stores v after all stores that were made before. Where there is no
// cheaper way, or the race detector must see it, it is ordered like any Store.
func StoreRelease(p *atomic.Uint32, v uint32) { p.Store(v) }

// StoreRelease64 is StoreRelease of a word of 64 bits.
func StoreRelease64(p *atomic.Uint64, v uint64) { p.Store(v) }
