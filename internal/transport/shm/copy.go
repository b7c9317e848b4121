//go:build !race

package shm

// copyForPeer copies src to dst, which are equally long.
func copyForPeer(dst, src []byte) { copy(dst, src) }
