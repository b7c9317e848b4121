package line

import "github.com/gaspi-go/gaspi-go/internal/simd"

//go:generate go run -C asm .

// find returns the codelet of exactly level l for a radix, or nil.
func find[F Real](l simd.Level, radix int, last bool) codelet[F] {
	var k any
	switch _, double := any(F(0)).(float64); {
	case l == simd.AVX512 && double:
		k = findFloat64AVX512(radix, last)
	case l == simd.AVX512:
		k = findFloat32AVX512(radix, last)
	case l == simd.AVX2 && double:
		k = findFloat64AVX2(radix, last)
	case l == simd.AVX2:
		k = findFloat32AVX2(radix, last)
	default:
		return nil
	}
	return k.(func(y, x [][]F, tw []F, n int))
}

// findPacking returns the functions of a Packer of exactly level l, more than simd.Scalar.
func findPacking[F Real](l simd.Level) (pack, unpack packing[F]) {
	var p, u any
	switch _, double := any(F(0)).(float64); {
	case l == simd.AVX512 && double:
		p, u = packFloat64AVX512, unpackFloat64AVX512
	case l == simd.AVX512:
		p, u = packFloat32AVX512, unpackFloat32AVX512
	case double:
		p, u = packFloat64AVX2, unpackFloat64AVX2
	default:
		p, u = packFloat32AVX2, unpackFloat32AVX2
	}
	type function = func(tile []F, w int, lines [][]F, n int, scale F)
	return p.(function), u.(function)
}
