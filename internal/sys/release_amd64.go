//go:build amd64 && !race

package sys

import "sync/atomic"

// StoreRelease stores v after all stores that were made before. Unlike a Store of
// package atomic it is not ordered before later loads: the caller goes on while
// the store is on its way to memory, which is what makes it cheap.
func StoreRelease(p *atomic.Uint32, v uint32) { storeRelease(p, v) }
