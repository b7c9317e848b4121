package reduce

import (
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/simd"
)

var sizes = []struct {
	name  string
	bytes int
}{{"64B", 64}, {"8KiB", 8 << 10}, {"64KiB", 64 << 10}, {"1MiB", 1 << 20}, {"64MiB", 64 << 20}}

// BenchmarkInto is in place (dst is a), as accumulation is. Bytes are those of dst,
// as in BenchmarkCopy, which is the limit that memory sets.
func BenchmarkInto(b *testing.B) { benchmarkLevel(b, best) }

// BenchmarkScalar is BenchmarkInto with the pure-Go loops.
func BenchmarkScalar(b *testing.B) { benchmarkLevel(b, simd.Scalar) }

func benchmarkLevel(b *testing.B, l simd.Level) {
	for _, op := range []Op{Sum, Prod, Min, Max, Xor} {
		benchmarkInto[float32](b, l, op)
		benchmarkInto[float64](b, l, op)
		benchmarkInto[int32](b, l, op)
		benchmarkInto[int64](b, l, op)
		benchmarkInto[uint64](b, l, op)
		benchmarkInto[int8](b, l, op)
	}
}

func benchmarkInto[T Number](b *testing.B, l simd.Level, op Op) {
	if !Supports[T](op) {
		return
	}
	for _, size := range sizes {
		b.Run(fmt.Sprintf("%v/%T/%s", op, *new(T), size.name), func(b *testing.B) {
			k, x, y := kindOf[T](), BytesOf(elements[T](size.bytes)), BytesOf(elements[T](size.bytes))
			b.SetBytes(int64(size.bytes))
			for b.Loop() {
				into(l, k, op, x, x, y)
			}
		})
	}
}

// elements returns ones, which no operation turns into denormals or NaN, and
// touches every page.
func elements[T Number](bytes int) []T {
	s := make([]T, bytes/stride[T]())
	for i := range s {
		s[i] = 1
	}
	return s
}

func BenchmarkCopy(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			x, y := elements[int64](size.bytes), elements[int64](size.bytes)
			b.SetBytes(int64(size.bytes))
			for b.Loop() {
				copy(x, y)
			}
		})
	}
}

// BenchmarkCrossover is where the smallest size of a level comes from: the same
// few elements through the loops and through the vectors.
func BenchmarkCrossover(b *testing.B) {
	for _, l := range levels() {
		for _, n := range []int{1, 4, 8, 12, 16, 24, 32} {
			b.Run(fmt.Sprintf("%v/float32/%d", l, n), func(b *testing.B) {
				x, y := elements[float32](4*n), elements[float32](4*n)
				for b.Loop() {
					into(l, kindFloat32, Sum, BytesOf(x), BytesOf(x), BytesOf(y))
				}
			})
		}
	}
}
