package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sliceSize is the size of a row's header in a slice of rows, in bytes.
const sliceSize = 24

// A codelet is the function for one radix while it is written.
type codelet struct {
	machine
	precision
	radix int
	last  bool // without factors

	from, to, factors reg.Register     // bases of the rows' headers, and of the factors
	rows              []reg.Register   // where the rows begin, of the result and then of the input; nil if there are too many
	at                reg.GPVirtual    // offset of the vector, in bytes
	held              []reg.VecVirtual // all factors; nil if there are too many
	sign              reg.VecVirtual
}

// generate emits the codelet of a radix, for rows of one vector at least. The last vector of rows is the
// one that ends with them, which may overlap the one before: both get the same, since nothing is written to
// the input.
func generate(m machine, p precision, radix int, last bool) {
	TEXT(name(m, p, radix, last), NOSPLIT, fmt.Sprintf("func(y, x [][]%s, tw []%s, n int)", p.element, p.element))
	Doc(fmt.Sprintf("%s is a transform of length %d across rows of n numbers, %d at least.", name(m, p, radix, last), radix, m.width/p.size))
	Pragma("noescape")
	c := &codelet{machine: m, precision: p, radix: radix, last: last}
	c.to = Load(Param("y").Base(), GP64())
	c.from = Load(Param("x").Base(), GP64())
	if !last {
		c.factors = Load(Param("tw").Base(), GP64())
	}
	end := Load(Param("n"), GP64())
	SHLQ(operand.U8(map[int]uint8{4: 2, 8: 3}[p.size]), end)
	SUBQ(operand.U8(m.width), end)
	c.hold()
	c.at = GP64()
	XORQ(c.at, c.at)
	step := GP64()

	Label("vector")
	c.vector()
	CMPQ(c.at, end)
	JGE(operand.LabelRef("done"))
	LEAQ(operand.Mem{Base: c.at, Disp: m.width}, step)
	CMPQ(step, end)
	CMOVQGT(end, step)
	MOVQ(step, c.at)
	JMP(operand.LabelRef("vector"))
	Label("done")
	VZEROUPPER()
	RET()
}

// hold loads what fits in registers for all vectors.
func (c *codelet) hold() {
	if c.radix <= 4 {
		for i := range 2 * c.radix {
			base := c.to
			if i >= c.radix {
				base = c.from
			}
			row := GP64()
			MOVQ(operand.Mem{Base: base, Disp: sliceSize * (i % c.radix)}, row)
			c.rows = append(c.rows, row)
		}
	}
	if c.radix > 2 {
		c.sign = c.register()
		c.load(c.negativeImaginary(), c.sign)
	}
	if most := map[bool]int{false: 4, true: 8}[c.wide]; !c.last && c.radix <= most {
		for i := range 2 * (c.radix - 1) {
			f := c.register()
			c.broadcast(c.factor(i), f)
			c.held = append(c.held, f)
		}
	}
}

// factor is where part i of the factors lies.
func (c *codelet) factor(i int) operand.Mem { return operand.Mem{Base: c.factors, Disp: i * c.size} }

// row is the vector of a row: of the result, or from radix on of the input.
func (c *codelet) row(i int) operand.Mem {
	if c.rows != nil {
		return operand.Mem{Base: c.rows[i], Index: c.at, Scale: 1}
	}
	base, row := c.to, GP64()
	if i >= c.radix {
		base = c.from
	}
	MOVQ(operand.Mem{Base: base, Disp: sliceSize * (i % c.radix)}, row)
	return operand.Mem{Base: row, Index: c.at, Scale: 1}
}

// vector emits the transform of one vector.
func (c *codelet) vector() {
	var x []reg.VecVirtual
	for r := range c.radix {
		v := c.register()
		c.load(c.row(c.radix+r), v)
		x = append(x, v)
	}
	c.transform(x, func(i int, v reg.VecVirtual) {
		if i > 0 && !c.last {
			v = c.times(v, i-1)
		}
		c.load(v, c.row(i))
	})
}

// times returns v times factor i, and uses v up.
func (c *codelet) times(v reg.VecVirtual, i int) reg.VecVirtual {
	t := c.swapped(v)
	switch {
	case c.held != nil:
		c.mul(c.held[2*i+1], t, t)
		c.addSub(c.held[2*i], t, v)
	case c.wide:
		c.mulBy(c.factor(2*i+1), t, t)
		c.addSubBy(c.factor(2*i), t, v)
	default:
		re, im := c.register(), c.register()
		c.broadcast(c.factor(2*i+1), im)
		c.mul(im, t, t)
		c.broadcast(c.factor(2*i), re)
		c.addSub(re, t, v)
	}
	return v
}
