//go:build !race

package cpu

// A store that goes past the caches (MOVNTDQ) neither reads the line that it writes nor puts another one
// out of a cache. Of memory that no cache has, 64 MiB are copied so in 5.5 ms in place of the 9.4 of a
// string move (go test ./internal/sys/cpu -bench Past, AMD EPYC, Zen 4); on a Xeon at 2.5 GHz such stores
// were slower than any others.

// copiesPast reports whether CopyPast is quicker than other copies, of what no cache has.
var copiesPast = vendor() == ofAMD

// vendor returns the first letters of the vendor's name.
func vendor() uint32 {
	_, name, _, _ := cpuid(lastLeaf)
	return name
}

// CopiesPast reports whether CopyPast is the quickest copy of memory that no cache has, to where nobody
// reads soon.
func CopiesPast() bool { return copiesPast }

// CopyPast is copy(dst, src) of two slices of the same length, which do not overlap, past the caches:
// what it has written is in none. A store after it is seen after all that it has written.
func CopyPast(dst, src []byte) {
	n := min(len(dst), len(src))
	head := 0 // up to the first whole line of dst
	if n >= leastPast {
		head = int(-address(&dst[0]) & (line - 1))
	} else {
		head = n
	}
	whole := (n - head) &^ (line - 1)
	copy(dst[:head], src)
	if whole > 0 {
		copyPast(&dst[head], &src[head], uint64(whole))
	}
	copy(dst[head+whole:], src[head+whole:n])
}

const (
	line = 64
	// leastPast is the least number of bytes that are not just copied.
	leastPast = 2 * line
)

// address returns the address of a byte.
func address(p *byte) uint64 { return distance(p, nil) }

// copyPast copies n bytes, whole lines, to where a line begins.
//
//go:noescape
func copyPast(dst, src *byte, n uint64)
