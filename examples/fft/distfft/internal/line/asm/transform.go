package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/reg"
)

// transform emits the transform of x, which it may use up, and gives each result to out.
func (c *codelet) transform(x []reg.VecVirtual, out func(i int, v reg.VecVirtual)) {
	switch len(x) {
	case 2:
		out(0, c.sum(x[0], x[1]))
		out(1, c.difference(x[0], x[1]))
	case 3:
		c.three(x, out)
	case 4:
		c.four(x, out)
	case 5:
		c.five(x, out)
	case 8:
		c.eight(x, out)
	case 16:
		c.sixteen(x, out)
	default:
		panic(fmt.Sprintf("no transform of length %d", len(x)))
	}
}

func (c *codelet) three(x []reg.VecVirtual, out func(int, reg.VecVirtual)) {
	s := c.sum(x[1], x[2])
	d := c.turned(c.scaled(c.difference(x[1], x[2]), math.Sqrt(3)/2))
	out(0, c.sum(x[0], s))
	c.addScaled(x[0], s, -0.5)
	out(1, c.sum(x[0], d))
	out(2, c.difference(x[0], d))
}

func (c *codelet) four(x []reg.VecVirtual, out func(int, reg.VecVirtual)) {
	s, d := c.sum(x[0], x[2]), c.difference(x[0], x[2])
	t, e := c.sum(x[1], x[3]), c.turned(c.difference(x[1], x[3]))
	out(0, c.sum(s, t))
	out(2, c.difference(s, t))
	out(1, c.sum(d, e))
	out(3, c.difference(d, e))
}

func (c *codelet) five(x []reg.VecVirtual, out func(int, reg.VecVirtual)) {
	// Cosines and sines of one and two fifths of the circle.
	c1, c2 := (math.Sqrt(5)-1)/4, -(math.Sqrt(5)+1)/4
	s1, s2 := math.Sqrt((5+math.Sqrt(5))/8), math.Sqrt((5-math.Sqrt(5))/8)
	p, q := c.sum(x[1], x[4]), c.sum(x[2], x[3])
	e, f := c.difference(x[1], x[4]), c.difference(x[2], x[3])
	out(0, c.sum(c.sum(x[0], p), q))
	pair := func(i int, cos, cos2, sin, sin2 float64) {
		b, g := c.copied(x[0]), c.register()
		c.addScaled(b, p, cos)
		c.addScaled(b, q, cos2)
		c.mul(c.all(sin), e, g)
		c.addScaled(g, f, sin2)
		g = c.turned(g)
		out(i, c.sum(b, g))
		out(5-i, c.difference(b, g))
	}
	pair(1, c1, c2, s1, s2)
	pair(2, c2, c1, s2, -s1)
}

func (c *codelet) eight(x []reg.VecVirtual, out func(int, reg.VecVirtual)) {
	var even, odd []reg.VecVirtual
	for r := range 4 {
		even = append(even, c.sum(x[r], x[r+4]))
		odd = append(odd, c.difference(x[r], x[r+4]))
	}
	c.four(even, func(i int, v reg.VecVirtual) { out(2*i, v) })
	for r := 1; r < 4; r++ {
		odd[r] = c.rotated(odd[r], r, 8)
	}
	c.four(odd, func(i int, v reg.VecVirtual) { out(2*i+1, v) })
}

func (c *codelet) sixteen(x []reg.VecVirtual, out func(int, reg.VecVirtual)) {
	var columns [4][4]reg.VecVirtual // by result of the first transforms, and by column
	for q := range 4 {
		c.four([]reg.VecVirtual{x[q], x[q+4], x[q+8], x[q+12]}, func(i int, v reg.VecVirtual) {
			columns[i][q] = c.rotated(v, q*i, 16)
		})
	}
	for i := range columns {
		c.four(columns[i][:], func(j int, v reg.VecVirtual) { out(i+4*j, v) })
	}
}

// rotated returns v times the root of unity i of order n, and may use v up.
func (c *codelet) rotated(v reg.VecVirtual, i, n int) reg.VecVirtual {
	half := math.Sqrt(0.5)
	switch {
	case i == 0:
		return v
	case 4*i == n:
		return c.turned(v)
	case 8*i == n: // (1 - i)/sqrt 2
		return c.scaled(c.sum(v, c.turned(v)), half)
	case 8*i == 3*n: // (-1 - i)/sqrt 2
		return c.scaled(c.difference(c.turned(v), v), half)
	}
	sin, cos := math.Sincos(-2 * math.Pi * float64(i) / float64(n))
	t := c.swapped(v)
	c.mul(c.all(sin), t, t)
	c.addSub(c.all(cos), t, v)
	return v
}

func (c *codelet) sum(a, b reg.VecVirtual) reg.VecVirtual {
	r := c.register()
	c.add(b, a, r)
	return r
}

func (c *codelet) difference(a, b reg.VecVirtual) reg.VecVirtual {
	r := c.register()
	c.sub(b, a, r)
	return r
}

// scaled returns v times a number, in its place.
func (c *codelet) scaled(v reg.VecVirtual, by float64) reg.VecVirtual {
	c.mul(c.all(by), v, v)
	return v
}

// addScaled adds v times a number to sum.
func (c *codelet) addScaled(sum, v reg.VecVirtual, by float64) { c.multiplyAdd(c.all(by), v, sum) }

func (c *codelet) copied(v reg.VecVirtual) reg.VecVirtual {
	r := c.register()
	c.load(v, r)
	return r
}

// swapped returns v with real and imaginary parts exchanged.
func (c *codelet) swapped(v reg.VecVirtual) reg.VecVirtual {
	r := c.register()
	c.swap(v, r)
	return r
}

// turned returns v times -i.
func (c *codelet) turned(v reg.VecVirtual) reg.VecVirtual {
	r := c.swapped(v)
	c.xor(c.sign, r, r)
	return r
}
