package cpu

import (
	"bytes"
	"testing"
)

// Goal: the copy is one, whatever the lengths, wherever the vectors begin, and
// touches nothing else.
func TestCopyAhead(t *testing.T) {
	src := make([]byte, 5000)
	for i := range src {
		src[i] = byte(i*7 + i>>8)
	}
	for _, n := range []int{0, 1, 63, 64, 65, 127, 128, 1024, 4099} {
		for _, from := range []int{0, 1, 16, 63} {
			for _, short := range []int{0, 1, 64} { // one of the two is longer
				got, want := make([]byte, 5000), make([]byte, 5000)
				wrote := copy(want[from:from+n], src[from/2:from/2+n+short])
				if did := CopyAhead(got[from:from+n], src[from/2:from/2+n+short]); did != wrote || !bytes.Equal(got, want) {
					t.Errorf("%d bytes to byte %d, %d more in the source: %d copied, or not what copy does", n, from, short, did)
				}
			}
		}
	}
	if did := CopyAhead(make([]byte, 100), src[:70]); did != 70 {
		t.Errorf("70 bytes to 100: %d copied", did)
	}
}

// Goal: asking for lines reads and writes nothing that can be noticed, also of no
// bytes and of those at the end of a vector.
func TestPrefetchAll(t *testing.T) {
	mem := bytes.Repeat([]byte{3}, 300)
	for _, part := range [][]byte{nil, mem[:0], mem[300:], mem[17:18], mem} {
		PrefetchAll(part)
	}
	if !bytes.Equal(mem, bytes.Repeat([]byte{3}, 300)) {
		t.Error("memory changed")
	}
}
