package reduce

import (
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/simd"
)

// BenchmarkKernel8B is what a reduction of one number adds to a barrier.
func BenchmarkKernel8B(b *testing.B) {
	benchmarkKernel[float64](b, best, Sum, 8)
	benchmarkKernel[float32](b, best, Sum, 8)
	benchmarkKernel[int64](b, best, Max, 8)
	benchmarkKernel[Float16](b, best, Sum, 8)
	benchmarkKernel[BFloat16](b, best, Sum, 8)
	benchmarkKernel[complex64](b, best, Prod, 8)
	benchmarkKernel[Loc[float64]](b, best, MinLoc, 16)
}

// BenchmarkKernel is in place, as accumulation is. Bytes are those of dst.
func BenchmarkKernel(b *testing.B) {
	for _, l := range levels() {
		for _, n := range []int{64, 4 << 10, 32 << 10, 256 << 10, 1 << 20} {
			benchmarkKernel[float64](b, l, Sum, n)
			benchmarkKernel[float32](b, l, Sum, n)
			benchmarkKernel[Float16](b, l, Sum, n)
			benchmarkKernel[BFloat16](b, l, Sum, n)
			benchmarkKernel[Float16](b, l, Max, n)
			benchmarkKernel[complex64](b, l, Prod, n)
			benchmarkKernel[complex128](b, l, Prod, n)
		}
	}
}

func benchmarkKernel[T Element](b *testing.B, l simd.Level, op Op, n int) {
	b.Run(fmt.Sprintf("%v/%v/%T/%d", l, op, *new(T), n), func(b *testing.B) {
		k := kernelOf(l, kindOf[T](), op)
		x, y := aligned(n), aligned(n)
		b.SetBytes(int64(n))
		b.ReportAllocs()
		for b.Loop() {
			k(x, x, y)
		}
	})
}

// BenchmarkFold is four sources, at once and by a Kernel, one after the other.
func BenchmarkFold(b *testing.B) {
	for _, n := range []int{4 << 10, 32 << 10, 256 << 10, 1 << 20, 8 << 20} {
		benchmarkFold[float64](b, Sum, n)
		benchmarkFold[float64](b, Max, n)
	}
}

func benchmarkFold[T Element](b *testing.B, op Op, n int) {
	// Not all at the same offset in a page, where loads seem to wait for stores.
	place := func(i int) []byte { return aligned(n + 4096)[128*i:][:n] }
	dst, sources := place(0), [][]byte{place(1), place(2), place(3), place(4)}
	kernel, fold := kernelOf(best, kindOf[T](), op), foldOf(best, kindOf[T](), op)
	b.Run(fmt.Sprintf("%v/fold/%d", op, n), func(b *testing.B) {
		b.SetBytes(int64(n))
		b.ReportAllocs()
		for b.Loop() {
			fold(dst, sources)
		}
	})
	b.Run(fmt.Sprintf("%v/kernel/%d", op, n), func(b *testing.B) {
		b.SetBytes(int64(n))
		b.ReportAllocs()
		for b.Loop() {
			kernel(dst, sources[0], sources[1])
			kernel(dst, dst, sources[2])
			kernel(dst, dst, sources[3])
		}
	})
}
