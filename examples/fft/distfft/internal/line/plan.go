package line

import (
	"fmt"
	"math"
)

// Real is what the parts of complex numbers may be.
type Real interface{ float32 | float64 }

// A Plan knows how to transform lines of one length. It holds no state of a
// transform, so that any number of goroutines may use it.
type Plan[F Real] struct {
	n      int
	passes []pass[F]
}

// A pass is one step of the transform by Stockham's scheme: all sequences that
// are left, of length radix*rest, become radix times as many of length rest.
type pass[F Real] struct {
	radix, rest int
	// twiddles are the factors that number r of group i is multiplied with, for
	// r from 1 on: pairs of real and imaginary part at 2*(i*(radix-1)+r-1).
	twiddles []F
	// roots are those of unity of order radix, for odd radices that have no step of their own.
	roots []F
}

// NewPlan prepares transforms of lines of n complex numbers, at least 1. A
// transform takes time in proportion to n times the sum of the factors of n: a
// large prime is slow, but right.
func NewPlan[F Real](n int) (*Plan[F], error) {
	if n < 1 {
		return nil, fmt.Errorf("a line of %d numbers cannot be transformed; lines have 1 or more", n)
	}
	p := &Plan[F]{n: n}
	for left := n; left > 1; {
		r := radixOf(left)
		p.passes = append(p.passes, newPass[F](r, left/r))
		left /= r
	}
	return p, nil
}

// radixOf is the next radix for sequences of length n, more than 1: the one that does
// most for a pass through memory.
func radixOf(n int) int {
	for _, r := range []int{4, 2, 3, 5} {
		if n%r == 0 {
			return r
		}
	}
	for r := 7; r*r <= n; r += 2 {
		if n%r == 0 {
			return r
		}
	}
	return n
}

// newPass computes the factors of a pass, each rounded once.
func newPass[F Real](radix, rest int) pass[F] {
	p := pass[F]{radix: radix, rest: rest}
	for i := range rest {
		for r := 1; r < radix; r++ {
			re, im := root(i*r, radix*rest)
			p.twiddles = append(p.twiddles, F(re), F(im))
		}
	}
	if radix > 5 {
		for i := range radix {
			re, im := root(i, radix)
			p.roots = append(p.roots, F(re), F(im))
		}
	}
	return p
}

// root is exp(-2 pi i k/n) for k below n times a small number. The angle is reduced to
// an eighth of the circle first, where sine and cosine are at their most exact.
func root(k, n int) (re, im float64) {
	k %= n
	switch {
	case 2*k > n:
		re, im = root(n-k, n)
		return re, -im
	case 4*k > n:
		re, im = halfRoot(n-2*k, n)
		return -re, im
	}
	return halfRoot(2*k, n)
}

// halfRoot is exp(-pi i k/n) for k from 0 to n/2.
func halfRoot(k, n int) (re, im float64) {
	if 4*k > n {
		s, c := math.Sincos(math.Pi * float64(n-2*k) / float64(2*n))
		return s, -c
	}
	s, c := math.Sincos(math.Pi * float64(k) / float64(n))
	return c, -s
}

// Len is the length of the lines.
func (p *Plan[F]) Len() int { return p.n }

// TileLen is how long the two buffers for tiles of w lanes have to be.
func (p *Plan[F]) TileLen(w int) int { return 2 * p.n * w }

// Forward transforms the w lines in tile: number k of the result is the sum over
// i of number i times exp(-2 pi i*k sqrt(-1)/n). The result is in one of the two
// buffers, which it returns; the other holds nothing of use. Both have TileLen(w)
// elements and do not overlap.
func (p *Plan[F]) Forward(tile, other []F, w int) []F {
	done := 1 // how many sequences there are; they are neighbours, like lanes
	for i := range p.passes {
		p.passes[i].run(other, tile, 2*done*w)
		tile, other = other, tile
		done *= p.passes[i].radix
	}
	return tile
}

// run does the pass from src to dst. A row is the numbers of equal index of all
// sequences and lanes: so many elements.
func (p *pass[F]) run(dst, src []F, row int) {
	from, to := p.rest*row, p.radix*row
	for i := range p.rest {
		in, out := src[i*row:], dst[i*to:(i+1)*to]
		tw := p.twiddles[2*i*(p.radix-1) : 2*(i+1)*(p.radix-1)]
		switch p.radix {
		case 2:
			step2(out[:row], out[row:], in, in[from:], tw)
		case 3:
			step3(out[:row], out[row:], out[2*row:], in, in[from:], in[2*from:], tw)
		case 4:
			step4(out[:row], out[row:], out[2*row:], out[3*row:], in, in[from:], in[2*from:], in[3*from:], tw)
		case 5:
			step5(out, in, row, from, tw)
		default:
			stepOdd(out, in, row, from, tw, p.roots)
		}
	}
}
