package segment

import (
	"bytes"
	"fmt"
	"testing"
)

// TestCopy compares Copy with the built-in one: of all lengths at which it changes its way, with
// another length of the destination, and with sources and destinations that lie apart in their pages,
// which decides the way, too. Nothing beside the destination is written.
func TestCopy(t *testing.T) {
	const room = 8*piece + 2*4096
	src, dst, want := make([]byte, room), make([]byte, room), make([]byte, room)
	for i := range src {
		src[i] = byte(i * 31 >> 3)
	}
	for _, c := range []struct {
		name     string
		dst, src int
	}{
		{"nothing", 0, 0}, {"one", 1, 1}, {"below", shortest - 1, shortest - 1}, {"from there on", shortest, shortest},
		{"no line", shortest + 61, shortest + 61}, {"a piece", piece, piece}, {"a piece and one", piece + 1, piece + 1},
		{"whole pieces", 5 * piece, 5 * piece}, {"all", 8*piece + 77, 8*piece + 77},
		{"shorter destination", piece + 5, 2 * piece}, {"shorter source", shortest + 3, piece + 5},
		{"no destination", 0, piece}, {"no source", piece, 0},
	} {
		for _, at := range []struct{ dst, src int }{{0, 0}, {1, 0}, {63, 0}, {64, 0}, {0, 1}, {7, 4095}, {33, 31}} {
			t.Run(fmt.Sprintf("%s, from %d to %d", c.name, at.src, at.dst), func(t *testing.T) {
				clear(dst)
				clear(want)
				copy(want[at.dst:at.dst+c.dst], src[at.src:at.src+c.src])
				Copy(dst[at.dst:at.dst+c.dst], src[at.src:at.src+c.src])
				if !bytes.Equal(dst, want) {
					t.Error("not what copy does")
				}
			})
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	for _, n := range []int{64 << 10, 1 << 20, 2 << 20, 8 << 20, 32 << 20} {
		dst, src := make([]byte, n), make([]byte, n)
		for name, f := range map[string]func(){
			"builtin": func() { copy(dst, src) },
			"pieces":  func() { Copy(dst, src) },
		} {
			b.Run(fmt.Sprintf("%s/%dKiB", name, n>>10), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					f()
				}
			})
		}
	}
}
