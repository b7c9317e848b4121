//go:build !amd64

package cpu

// Relax is what a loop does between two looks at a word that another core will
// write. There is nothing to do here: the call itself is a pause.
//
//go:noinline
func Relax() {}

// Prefetch asks for the cache line of p for writing. There is nothing to do here.
func Prefetch(*byte) {}

// PrefetchAll asks for all cache lines of p for writing. There is nothing to do here.
func PrefetchAll([]byte) {}

// CopyAhead is copy(dst, src). There is nothing to ask for here.
func CopyAhead(dst, src []byte) int { return copy(dst, src) }
