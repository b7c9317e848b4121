package codec

import (
	"encoding/binary"
	"math"
)

// The quantised scheme keeps numbers as multiples of a step, twice the error that
// is allowed. A block of 64 has as many bits for each as the longest needs, of the
// multiples or of their differences, whichever is shorter; a block with a number
// that cannot be kept so stands as it is. Noise of a few bits does not repeat, so
// counting bits is shorter than looking for repetitions, and faster.
//
//	| step: 8 | blocks |            block: | mark: 1 | bits or elements |
const (
	quantum  = 64      // elements of a block
	exact    = 0x80    // mark: elements as they are
	delta    = 0x40    // mark: differences; the rest is the number of bits
	farthest = 1 << 30 // multiples are nearer to 0, so that differences have 32 bits
)

// shifter is 1.5 x 2^52: a number that is much smaller, added to it, is rounded to
// an integer, which is then in the low bits.
const shifter = 3 << 51

// quantise writes the blocks of src to dst and returns their length, 0 if it is not
// less than that of src.
func (c *Coder) quantise(dst, src []byte, lost []float64) int {
	q := quantiser{Coder: c, bound: c.method.value, half: c.method.value}
	if lost != nil {
		q.half /= 2
		c.next = room(c.next, len(lost))
	}
	q.step = 2 * q.half
	q.inverse = 1 / q.step
	size := c.element.Size
	if len(dst) < 8 {
		return 0
	}
	binary.LittleEndian.PutUint64(dst, math.Float64bits(q.step))
	at := 8
	for first := 0; first*size < len(src); first += quantum {
		b := src[first*size : min(len(src), (first+quantum)*size)]
		n := len(b) / size
		var before, after []float64
		if lost != nil {
			before, after = lost[first:first+n], c.next[first:first+n]
		}
		mark := byte(exact)
		need := len(b)
		if q.fits(b, before, after) {
			mark = q.mark(n)
			need = packedBits(n, mark)
		}
		if at+1+need >= len(dst) {
			return 0
		}
		dst[at] = mark
		body := dst[at+1 : at+1+need]
		at += 1 + need
		if mark == exact {
			copy(body, b)
			copy(after, before)
			q.last = 0
			continue
		}
		putBits(body, q.diff[:n], int(mark&^delta))
	}
	copy(lost, c.next)
	return at
}

// A quantiser is what quantise keeps from block to block.
type quantiser struct {
	*Coder
	bound, half   float64 // of the error, and of the error of what is coded
	step, inverse float64

	last     int32            // multiple
	x, v, d  [quantum]float64 // numbers, the same with what was lost, what becomes of them
	multiple [quantum]int32
	diff     [quantum]uint32 // what is kept
}

// fits finds the multiples of a block and reports whether they are near enough.
// after gets what is lost.
func (q *quantiser) fits(b []byte, before, after []float64) bool {
	n := len(b) / q.element.Size
	x, d, multiple := q.x[:n], q.d[:n], q.multiple[:n]
	q.element.load(x, b)
	v := x
	if before != nil {
		v = q.v[:n]
		for i, r := range before {
			v[i] = x[i] + r
		}
	}
	inverse, step, half := q.inverse, q.step, q.half
	for i, a := range v {
		f := a * inverse
		if !(f < farthest && f > -farthest) {
			return false
		}
		f += shifter
		multiple[i] = int32(math.Float64bits(f))
		d[i] = float64(f-shifter) * step
	}
	q.element.round(d)
	for i, a := range v {
		if e := a - d[i]; !(e < half && e > -half) && !near(a, d[i], half) {
			return false
		}
	}
	for i, a := range v[:len(after)] {
		if !near(x[i], d[i], q.bound) {
			return false
		}
		after[i] = a - d[i]
	}
	return true
}

// mark chooses how to keep n multiples.
func (q *quantiser) mark(n int) byte {
	last := q.last
	all, diffs := q.multiple[:n], q.diff[:n]
	var same, diff uint32
	for i, m := range all {
		d := fold(m - last)
		diffs[i] = d
		diff |= d
		same |= fold(m)
		last = m
	}
	q.last = last
	if width(same) > width(diff) {
		return delta | byte(width(diff))
	}
	for i, m := range all {
		diffs[i] = fold(m)
	}
	return byte(width(same))
}

// restore undoes quantise.
func (c *Coder) restore(dst, src []byte) error {
	if len(src) < 8 {
		return corrupt("no step")
	}
	step := math.Float64frombits(binary.LittleEndian.Uint64(src))
	src = src[8:]
	size := c.element.Size
	var last int32
	var folded [quantum]uint32
	var x [quantum]float64
	for len(dst) > 0 {
		b := dst[:min(quantum*size, len(dst))]
		dst = dst[len(b):]
		n := len(b) / size
		if len(src) == 0 {
			return corrupt("a block is missing")
		}
		mark := src[0]
		need := len(b)
		if mark != exact {
			if mark&^delta > 32 {
				return corrupt("mark %#x", mark)
			}
			need = packedBits(n, mark)
		}
		if src = src[1:]; len(src) < need {
			return corrupt("a block of %d bytes in %d", need, len(src))
		}
		body := src[:need]
		src = src[need:]
		if mark == exact {
			copy(b, body)
			last = 0
			continue
		}
		getBits(folded[:n], body, int(mark&^delta))
		last = sums(x[:n], folded[:n], mark&delta != 0, last, step)
		c.element.store(b, x[:n])
	}
	if len(src) > 0 {
		return corrupt("%d bytes too many", len(src))
	}
	return nil
}

// sums turns what is kept of multiples into numbers, each added to the one before it
// if they are differences, and returns the last multiple.
func sums(x []float64, folded []uint32, differences bool, last int32, step float64) int32 {
	folded = folded[:len(x)]
	if !differences {
		for i, f := range folded {
			x[i] = float64(unfold(f)) * step
		}
		return unfold(folded[len(folded)-1])
	}
	for i, f := range folded {
		last += unfold(f)
		x[i] = float64(last) * step
	}
	return last
}
