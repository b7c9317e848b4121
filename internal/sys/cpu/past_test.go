package cpu

import (
	"bytes"
	"fmt"
	"testing"
)

// Goal: the copy is one, whatever the length and wherever the slices begin, and touches nothing else.
func TestCopyPast(t *testing.T) {
	const room = 3000
	src := make([]byte, room)
	for i := range src {
		src[i] = byte(i*7 + i>>8)
	}
	for _, n := range []int{0, 1, 63, 64, 127, 128, 129, 191, 192, 1024, 2051} {
		for _, to := range []int{0, 1, 17, 63, 64} {
			for _, from := range []int{0, 5, 64} {
				got, want := make([]byte, room), make([]byte, room)
				copy(want[to:], src[from:from+n])
				if CopyPast(got[to:to+n], src[from:from+n]); !bytes.Equal(got, want) {
					t.Errorf("%d bytes from %d to %d: not what copy does", n, from, to)
				}
			}
		}
	}
}

func BenchmarkPast(b *testing.B) {
	const n, piece = 64 << 20, 256 << 10
	dst, src := make([]byte, n), bytes.Repeat([]byte{1}, n)
	for name, f := range map[string]func(dst, src []byte){
		"move": func(dst, src []byte) {
			if Moves(dst, src) {
				Move(dst, src)
			}
		},
		"past": CopyPast,
	} {
		b.Run(fmt.Sprintf("%s/%dMiB", name, n>>20), func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				for at := 0; at < n; at += piece {
					f(dst[at:at+piece], src[at:at+piece])
				}
			}
		})
	}
}
