//go:build !amd64 || race

package cpu

// CopiesPast reports whether CopyPast is quicker than the built-in copy. It is the same, and the only one
// that the race detector sees.
func CopiesPast() bool { return false }

// CopyPast is copy(dst, src).
func CopyPast(dst, src []byte) { copy(dst, src) }
