//go:build !amd64 || race

package cpu

// Moves reports whether Move is the quickest copy. The built-in copy is, and the only one that the race
// detector sees.
func Moves(_, _ []byte) bool { return false }

// Move is copy(dst, src).
func Move(dst, src []byte) { copy(dst, src) }
