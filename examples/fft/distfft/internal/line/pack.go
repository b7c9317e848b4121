package line

import "github.com/gaspi-go/gaspi-go/internal/simd"

// A Packer copies between lines whose points are neighbours in memory, and tiles of which they are lanes. It
// holds no state, so that any number of goroutines may use it.
type Packer[F Real] struct {
	block        int // how many lines, and points of each, the functions copy at a time
	pack, unpack packing[F]
}

// A packing copies n points, a multiple of a block, between a block of lines and neighbouring lanes of a tile
// of w lanes; back to lines, times scale.
type packing[F Real] func(tile []F, w int, lines [][]F, n int, scale F)

// NewPacker returns a packer for this processor.
func NewPacker[F Real]() Packer[F] { return newPacker[F](simd.Best()) }

func newPacker[F Real](l simd.Level) Packer[F] {
	if l == simd.Scalar {
		return Packer[F]{block: 4, pack: packFour[F], unpack: unpackFour[F]}
	}
	pack, unpack := findPacking[F](l)
	return Packer[F]{block: vectorBytes(l) / (2 * sizeOf[F]()), pack: pack, unpack: unpack}
}

// Pack copies lines to a tile of as many lanes: point i of line l, a pair of real and imaginary part, goes to
// tile[2*(i*len(lines)+l)]. Lines are equally long.
func (p Packer[F]) Pack(tile []F, lines [][]F) {
	w := len(lines)
	p.each(lines, p.pack, tile, 1, func(line []F, l, from int) {
		at := 2 * (from*w + l)
		for i := 2 * from; i+1 < len(line); i += 2 {
			tile[at], tile[at+1] = line[i], line[i+1]
			at += 2 * w
		}
	})
}

// Unpack is the reverse of Pack, times scale.
func (p Packer[F]) Unpack(lines [][]F, tile []F, scale F) {
	w := len(lines)
	p.each(lines, p.unpack, tile, scale, func(line []F, l, from int) {
		at := 2 * (from*w + l)
		for i := 2 * from; i+1 < len(line); i += 2 {
			line[i], line[i+1] = tile[at]*scale, tile[at+1]*scale
			at += 2 * w
		}
	})
}

// each copies whole blocks, and calls rest for what is left of each line, from a point on.
func (p Packer[F]) each(lines [][]F, copyBlocks packing[F], tile []F, scale F, rest func(line []F, l, from int)) {
	w, n := len(lines), 0
	if w > 0 {
		n = len(lines[0]) / 2
	}
	whole := n - n%p.block
	for l := 0; l < w; l++ {
		from := 0
		if l < w-w%p.block {
			if from = whole; l%p.block == 0 && whole > 0 {
				copyBlocks(tile[2*l:], w, lines[l:l+p.block], whole, scale)
			}
		}
		if from < n {
			rest(lines[l], l, from)
		}
	}
}

// packFour packs four lines: as many complex128 are a cache line.
func packFour[F Real](tile []F, w int, lines [][]F, n int, _ F) {
	a, b, c, d := lines[0][:2*n], lines[1][:2*n], lines[2][:2*n], lines[3][:2*n]
	for i := 0; i+1 < len(a); i += 2 {
		t := tile[i*w : i*w+8]
		t[0], t[1], t[2], t[3] = a[i], a[i+1], b[i], b[i+1]
		t[4], t[5], t[6], t[7] = c[i], c[i+1], d[i], d[i+1]
	}
}

// unpackFour is the reverse of packFour.
func unpackFour[F Real](tile []F, w int, lines [][]F, n int, scale F) {
	a, b, c, d := lines[0][:2*n], lines[1][:2*n], lines[2][:2*n], lines[3][:2*n]
	for i := 0; i+1 < len(a); i += 2 {
		t := tile[i*w : i*w+8]
		a[i], a[i+1], b[i], b[i+1] = t[0]*scale, t[1]*scale, t[2]*scale, t[3]*scale
		c[i], c[i+1], d[i], d[i+1] = t[4]*scale, t[5]*scale, t[6]*scale, t[7]*scale
	}
}
