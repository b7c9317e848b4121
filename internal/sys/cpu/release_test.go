package cpu

import (
	"bytes"
	"sync/atomic"
	"testing"
)

// TestCopyRelease copies each number of bytes that one call copies: to no byte before or behind them, and
// the word has the value.
func TestCopyRelease(t *testing.T) {
	const most = max(ShortCopy, 32)
	src := make([]byte, most)
	for i := range src {
		src[i] = byte(i + 1)
	}
	for n := range most + 1 {
		for at := range 9 {
			dst := bytes.Repeat([]byte{0xee}, most+16)
			want := bytes.Clone(dst)
			copy(want[at:], src[:n])
			var word, next atomic.Uint32
			CopyRelease(dst[at:], src[:n], &word, 7)
			if !bytes.Equal(dst, want) || word.Load() != 7 {
				t.Errorf("%d bytes at %d: %x and %d, want %x and 7", n, at, dst, word.Load(), want)
			}
			clear(dst[at:][:n])
			CopyReleaseTwice(dst[at:], src[:n], &word, &next, 8)
			if !bytes.Equal(dst, want) || word.Load() != 8 || next.Load() != 8 {
				t.Errorf("%d bytes at %d: %x, %d and %d, want %x and twice 8", n, at, dst, word.Load(), next.Load(), want)
			}
		}
	}
	var word atomic.Uint32
	if CopyRelease(nil, nil, &word, 3); word.Load() != 3 {
		t.Errorf("no bytes: the word has %d, want 3", word.Load())
	}
}
