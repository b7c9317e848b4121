package reduce

// StreamFrom is the number of bytes from which Copy writes past the caches. Of 4
// MiB that saves an eighth, of 8 MiB a fifth, of 16 MiB and more a third (5.5 ms
// become 3.5; go test -bench CopyLarge, Xeon 2.5 GHz with 36 MiB of third-level
// cache), because memory is not read before it is written. Of 1 MiB it saves
// little, and what it wrote is not in the cache for whoever reads it.
//
// Kernels do not stream: with two operands to read, sums of 16 to 64 MiB gained
// 2 % at a distinct destination and smaller ones lost.
const StreamFrom = 4 << 20

// Copy is copy(dst, src) for memory that is used much later or by someone else: it
// copies as many bytes as the shorter of the two has, which may overlap. Large
// copies do not go through the caches.
//
// When Copy returns, its stores are ordered before later ones, as those of copy
// are: a flag may be set right after it.
func Copy(dst, src []byte) {
	n := min(len(dst), len(src))
	if n >= StreamFrom {
		CopyPast(dst, src)
		return
	}
	copy(dst, src)
}

// streamLeast is the least number of bytes that are worth it, a little more than
// what stream can do at all.
const streamLeast = 512

// CopyPast is Copy that goes past the caches whatever the length, where the
// processor can: for parts of a large copy.
func CopyPast(dst, src []byte) {
	n := min(len(dst), len(src))
	if n < streamLeast || !stream(dst[:n], src[:n]) {
		copy(dst, src)
	}
}
