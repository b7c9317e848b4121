package hoplite

import (
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// wordBits is how many bits of a notification tell of a watermark. One is added, as 0 is
// no notification.
const wordBits = 30

// unitOf is what the watermarks of an object of size bytes are counted in: the least power
// of two with which they fit into wordBits.
func unitOf(size int64) int64 {
	unit := int64(1)
	for size>>wordBits >= unit {
		unit *= 2
	}
	return unit
}

// wordOf is the word for a watermark: how many whole units are there, rounded down, since
// what is said to be there must be. Only the end is rounded up, so that it can be told.
// No watermark below the end is taken for it: floor(mark/unit) < ceil(size/unit) whenever
// mark < size. Below 1 GiB all of them are exact; above, the units divide or are multiples
// of what the protocol aligns watermarks at, so that elements stay whole.
func wordOf(mark, size int64) gaspi.Value {
	unit := unitOf(size)
	n := mark / unit
	if mark == size {
		n = (size + unit - 1) / unit
	}
	return gaspi.Value(n) + 1
}

// markOf is the watermark that a word tells.
func markOf(word gaspi.Value, size int64) int64 {
	return min(int64(word-1)*unitOf(size), size)
}
