//go:build race

package transport

// CopyForPeer copies src to dst, which are equally long, for a rank of another process, unseen by the race
// detector. It is a peer who reads or writes here; what orders it with this
// rank's program are notifications in mapped memory, which the detector does not
// see, so it would report every correct program. It does look into the built-in
// copy, whoever calls that, so this is a loop.
//
// Atomics cannot be hidden: a program that prepares a word with plain stores and
// lets peers of other processes use atomics on it is reported wrongly.
//
//go:norace
func CopyForPeer(dst, src []byte) {
	for i := range dst {
		dst[i] = src[i]
	}
}
