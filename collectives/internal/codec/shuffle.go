package codec

import "encoding/binary"

// shuffle brings the first bytes of all elements together, then the second ones,
// and so on: signs and exponents, which are alike in neighbours, end up next to each
// other. dst is as long as src and apart from it.
func shuffle(dst, src []byte, size int) {
	n := len(src) / size
	switch size {
	case 1:
		copy(dst, src)
	case 4:
		a, b, c, d := dst[:n], dst[n:2*n], dst[2*n:3*n], dst[3*n:4*n]
		for i := range n {
			x := binary.LittleEndian.Uint32(src[4*i:])
			a[i], b[i], c[i], d[i] = byte(x), byte(x>>8), byte(x>>16), byte(x>>24)
		}
	case 8:
		a, b, c, d := dst[:n], dst[n:2*n], dst[2*n:3*n], dst[3*n:4*n]
		e, f, g, h := dst[4*n:5*n], dst[5*n:6*n], dst[6*n:7*n], dst[7*n:8*n]
		for i := range n {
			x := binary.LittleEndian.Uint64(src[8*i:])
			a[i], b[i], c[i], d[i] = byte(x), byte(x>>8), byte(x>>16), byte(x>>24)
			e[i], f[i], g[i], h[i] = byte(x>>32), byte(x>>40), byte(x>>48), byte(x>>56)
		}
	default:
		for j := range size {
			plane := dst[j*n : (j+1)*n]
			for i := range plane {
				plane[i] = src[i*size+j]
			}
		}
	}
}

// unshuffle undoes shuffle.
func unshuffle(dst, src []byte, size int) {
	n := len(dst) / size
	switch size {
	case 1:
		copy(dst, src)
	case 4:
		a, b, c, d := src[:n], src[n:2*n], src[2*n:3*n], src[3*n:4*n]
		for i := range n {
			x := uint32(a[i]) | uint32(b[i])<<8 | uint32(c[i])<<16 | uint32(d[i])<<24
			binary.LittleEndian.PutUint32(dst[4*i:], x)
		}
	case 8:
		a, b, c, d := src[:n], src[n:2*n], src[2*n:3*n], src[3*n:4*n]
		e, f, g, h := src[4*n:5*n], src[5*n:6*n], src[6*n:7*n], src[7*n:8*n]
		for i := range n {
			x := uint64(a[i]) | uint64(b[i])<<8 | uint64(c[i])<<16 | uint64(d[i])<<24 |
				uint64(e[i])<<32 | uint64(f[i])<<40 | uint64(g[i])<<48 | uint64(h[i])<<56
			binary.LittleEndian.PutUint64(dst[8*i:], x)
		}
	default:
		for j := range size {
			plane := src[j*n : (j+1)*n]
			for i := range plane {
				dst[i*size+j] = plane[i]
			}
		}
	}
}
