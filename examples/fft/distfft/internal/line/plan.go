package line

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/simd"
)

// Real is what the parts of complex numbers may be.
type Real interface{ float32 | float64 }

// A Transform knows how to transform lines of one length. It holds no state of a
// transform, so that any number of goroutines may use it.
type Transform[F Real] struct {
	n      int
	passes []pass[F]
	narrow []pass[F] // for rows of fewer than least numbers, without codelets
	least  int
}

// A codelet transforms across rows of n numbers, with vector instructions. It reads the first n numbers of
// the rows of x and writes those of y.
type codelet[F Real] func(y, x [][]F, tw []F, n int)

// A pass is one step of the transform by Stockham's scheme: all sequences that
// are left, of length radix*rest, become radix times as many of length rest.
type pass[F Real] struct {
	radix, rest int
	// twiddles are the factors that number r of group i is multiplied with, for
	// r from 1 on: pairs of real and imaginary part at 2*(i*(radix-1)+r-1).
	twiddles []F
	// roots are the roots of unity of order radix, for odd radices that have no step of their
	// own.
	roots   []F
	codelet codelet[F] // nil if there is none
}

// NewPlan prepares transforms of lines of n complex numbers, at least 1. A
// transform takes time in proportion to n times the sum of the factors of n: a
// large prime is slow, but right.
func NewPlan[F Real](n int) (*Transform[F], error) { return newPlan[F](simd.Best(), n) }

// newPlan prepares transforms with the codelets of level l.
func newPlan[F Real](l simd.Level, n int) (*Transform[F], error) {
	if n < 1 {
		return nil, fmt.Errorf("a line of %d numbers cannot be transformed; lines have 1 or more", n)
	}
	p := &Transform[F]{n: n, narrow: passes[F](simd.Scalar, n)}
	if p.passes = p.narrow; l > simd.Scalar {
		p.passes, p.least = passes[F](l, n), vectorBytes(l)/sizeOf[F]()
	}
	return p, nil
}

// vectorBytes is the size of a vector of level l.
func vectorBytes(l simd.Level) int { return 16 << l }

// sizeOf is the size of a number in bytes.
func sizeOf[F Real]() int {
	if _, double := any(F(0)).(float64); double {
		return 8
	}
	return 4
}

// passes prepares the steps of a transform with the codelets of level l.
func passes[F Real](l simd.Level, n int) []pass[F] {
	var all []pass[F]
	for left := n; left > 1; {
		r := radixOf(left, mostTwos(l))
		p := newPass[F](r, left/r)
		p.codelet = find[F](l, r, p.rest == 1)
		all = append(all, p)
		left = p.rest
	}
	return all
}

// mostTwos is the logarithm of the largest radix that level l has registers for.
func mostTwos(l simd.Level) int { return 2 + int(l) }

// radixOf is the next radix for sequences of length n, more than 1: an odd one, or a power of two up to the
// power most. Powers of two come last, the largest behind the others: the last step has no factors, and
// saves most of them with a large radix. They are as equal as the least number of steps lets them be.
func radixOf(n, most int) int {
	for r := 3; r*r <= n; r += 2 {
		if n%r == 0 {
			return r
		}
	}
	twos := bits.TrailingZeros(uint(n))
	if n>>twos > 1 {
		return n >> twos // an odd prime
	}
	steps := (twos + most - 1) / most
	return 1 << (twos / steps)
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
func (p *Transform[F]) Len() int { return p.n }

// Work is memory for transforms of one plan, used by one goroutine at a time.
type Work[F Real] struct {
	tile, other []F
	spare       []F   // for steps that need it
	in, out     [][]F // rows of one step
}

// NewWork makes memory for tiles of up to w lanes.
func (p *Transform[F]) NewWork(w int) *Work[F] {
	widest := 0
	for _, pass := range slices.Concat(p.passes, p.narrow) {
		widest = max(widest, pass.radix)
	}
	work := &Work[F]{
		tile: make([]F, 2*p.n*w), other: make([]F, 2*p.n*w),
		in: make([][]F, widest), out: make([][]F, widest),
	}
	if widest > 5 {
		work.spare = make([]F, 2*p.n*w)
	}
	return work
}

// Forward transforms w lines. Row i of src is number i of every line, as 2*w
// elements, and row k of dst is to be number k of the results: the sum over i of
// number i times exp(-2 pi i*k sqrt(-1)/n). There are Len() rows of both, anywhere in
// memory; rows of dst overlap no rows of src.
func (p *Transform[F]) Forward(dst, src [][]F, w int, work *Work[F]) {
	all := p.passes
	if 2*w < p.least {
		all = p.narrow
	}
	if len(all) == 0 {
		copy(dst[0], src[0])
		return
	}
	tile, other := work.tile, work.other
	done := 1 // how many sequences there are; they are neighbours, like lanes
	for i := range all {
		pass := &all[i]
		first, last := i == 0, i == len(all)-1
		switch {
		case first && last:
			pass.step(dst, src, pass.twiddles, work.spare)
		case first:
			pass.begin(tile, src, 2*w, work)
		case last:
			pass.end(dst, tile, done, 2*w, work)
		default:
			pass.middle(other, tile, 2*done*w, work)
			tile, other = other, tile
		}
		done *= pass.radix
	}
}

// begin does the first pass, from the rows of src.
func (p *pass[F]) begin(dst []F, src [][]F, row int, work *Work[F]) {
	in, out := work.in[:p.radix], work.out[:p.radix]
	for i := range p.rest {
		for r := range in {
			in[r], out[r] = src[r*p.rest+i], dst[(i*p.radix+r)*row:(i*p.radix+r+1)*row]
		}
		p.step(out, in, p.factors(i), work.spare)
	}
}

// middle does a pass in which the numbers of equal index of all sequences and lanes are
// so many elements.
func (p *pass[F]) middle(dst, src []F, row int, work *Work[F]) {
	in, out := work.in[:p.radix], work.out[:p.radix]
	for i := range p.rest {
		for r := range in {
			at := (r*p.rest + i) * row
			in[r], out[r] = src[at:at+row], dst[(i*p.radix+r)*row:(i*p.radix+r+1)*row]
		}
		p.step(out, in, p.factors(i), work.spare)
	}
}

// end does the last pass, to the rows of dst: sequences have length radix, and each
// is done by itself.
func (p *pass[F]) end(dst [][]F, src []F, done, row int, work *Work[F]) {
	in, out := work.in[:p.radix], work.out[:p.radix]
	for q := range done {
		for r := range in {
			at := (r*done + q) * row
			in[r], out[r] = src[at:at+row], dst[r*done+q]
		}
		p.step(out, in, p.twiddles, work.spare)
	}
}

// factors returns the twiddle factors of group i.
func (p *pass[F]) factors(i int) []F {
	n := 2 * (p.radix - 1)
	return p.twiddles[i*n : (i+1)*n]
}

// step transforms across rows of equal length: see the functions that it calls.
func (p *pass[F]) step(y, x [][]F, tw, spare []F) {
	if p.codelet != nil {
		p.codelet(y, x, tw, len(y[0]))
		return
	}
	switch p.radix {
	case 2:
		step2(y, x, tw)
	case 3:
		step3(y, x, tw)
	case 4:
		if p.rest == 1 {
			last4(y, x)
		} else {
			step4(y, x, tw)
		}
	case 5:
		step5(y, x, tw)
	default:
		stepOdd(y, x, tw, p.roots, spare)
	}
}
