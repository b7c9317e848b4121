package segment

import (
	"bytes"
	"fmt"
	"testing"
)

func TestCopy(t *testing.T) {
	src := make([]byte, 2*pastCache+77)
	for i := range src {
		src[i] = byte(i * 31 >> 3)
	}
	for _, c := range []struct {
		name     string
		dst, src int
	}{
		{"nothing", 0, 0}, {"one", 1, 1}, {"below", pastCache - 1, pastCache - 1}, {"from there on", pastCache, pastCache},
		{"whole pieces", 5 * piece, 5 * piece}, {"a piece and one", 5*piece + 1, 5*piece + 1}, {"all", len(src), len(src)},
		{"shorter destination", pastCache + 5, len(src)}, {"shorter source", len(src), pastCache + 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			dst, want := make([]byte, c.dst), make([]byte, c.dst)
			copy(want, src[:c.src])
			Copy(dst, src[:c.src])
			if !bytes.Equal(dst, want) {
				t.Error("not what copy does")
			}
		})
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
