package reduce

//go:generate go run -C asm .

import "github.com/gaspi-go/gaspi-go/internal/simd"

// vector runs the kernel of level l for p and reports whether there is one; if
// not, nothing was done. There are at least smallest bytes.
func vector(l simd.Level, p pair, dst, a, b []byte) bool {
	n := uint64(len(dst))
	switch {
	case l == simd.AVX512 && n >= 64:
		return runAVX512(p, &dst[0], &a[0], &b[0], n)
	case l >= simd.AVX2:
		return runAVX2(p, &dst[0], &a[0], &b[0], n)
	}
	return false
}

// find returns the kernel of exactly level l for p, or nil.
func find(l simd.Level, p pair) vectorFunc {
	switch l {
	case simd.AVX512:
		return findAVX512(p)
	case simd.AVX2:
		return findAVX2(p)
	}
	return nil
}

// findFold is find for four sources.
func findFold(l simd.Level, p pair) foldFunc {
	switch l {
	case simd.AVX512:
		return findFoldAVX512(p)
	case simd.AVX2:
		return findFoldAVX2(p)
	}
	return nil
}

// findTwice is find for two destinations.
func findTwice(l simd.Level, p pair) twiceFunc {
	switch l {
	case simd.AVX512:
		return findTwiceAVX512(p)
	case simd.AVX2:
		return findTwiceAVX2(p)
	}
	return nil
}
