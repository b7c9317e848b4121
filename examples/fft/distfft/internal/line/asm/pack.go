package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A packer is a function that copies between lines and a tile of which they are neighbouring lanes, while
// it is written.
type packer struct {
	machine
	precision
	rows   []reg.Register // where the lines begin; nil if there are too many
	from   reg.Register   // base of the lines' headers
	tile   reg.Register
	half   reg.Register // the tile from its fourth row on, if lines are eight
	line   reg.Register // from one row of the tile to the next, in bytes
	triple reg.Register // three times line
	at     reg.GPVirtual
}

// block is how many lines are packed at a time, as many as complex numbers are in a vector.
func block(m machine, p precision) int { return m.width / (2 * p.size) }

// packerName returns the name of the function that packs lines into lanes, or unpacks them.
func packerName(m machine, p precision, back bool) string {
	does := "pack"
	if back {
		does = "unpack"
	}
	return fmt.Sprintf("%sFloat%d%s", does, 8*p.size, m.name)
}

// pack emits that function. It does whole blocks of points.
func pack(m machine, p precision, back bool) {
	n := block(m, p)
	TEXT(packerName(m, p, back), NOSPLIT, fmt.Sprintf("func(tile []%s, w int, lines [][]%s, n int, scale %s)", p.element, p.element, p.element))
	if back {
		Doc(fmt.Sprintf("%s copies n points, a multiple of %d, of lanes of a tile with w of them to %d lines, times scale.", packerName(m, p, back), n, n))
	} else {
		Doc(fmt.Sprintf("%s copies n points, a multiple of %d, of %d lines to lanes of a tile with w of them.", packerName(m, p, back), n, n))
	}
	Pragma("noescape")
	t := &packer{machine: m, precision: p}
	t.tile = Load(Param("tile").Base(), GP64())
	t.line = Load(Param("w"), GP64())
	t.from = Load(Param("lines").Base(), GP64())
	end := Load(Param("n"), GP64())
	shift := operand.U8(map[int]uint8{4: 3, 8: 4}[p.size])
	SHLQ(shift, t.line)
	SHLQ(shift, end)
	var scale reg.VecVirtual
	if back {
		scale = t.register()
		param, err := Param("scale").Resolve()
		if err != nil {
			panic(err)
		}
		p.broadcast(param.Addr, scale)
	}
	t.hold(n)
	t.at = GP64()
	XORQ(t.at, t.at)

	Label("block")
	CMPQ(t.at, end)
	JGE(operand.LabelRef("done"))
	var v []reg.VecVirtual
	for i := range n {
		x := t.register()
		if back {
			p.load(t.lanes(i), x)
			p.mul(scale, x, x)
		} else {
			p.load(t.points(i), x)
		}
		v = append(v, x)
	}
	for i, x := range t.transposed(v) {
		if back {
			p.load(x, t.points(i))
		} else {
			p.load(x, t.lanes(i))
		}
	}
	ADDQ(operand.U8(m.width), t.at)
	LEAQ(operand.Mem{Base: t.tile, Index: t.line, Scale: uint8(n)}, t.tile)
	if t.half != nil {
		LEAQ(operand.Mem{Base: t.half, Index: t.line, Scale: 8}, t.half)
	}
	JMP(operand.LabelRef("block"))
	Label("done")
	VZEROUPPER()
	RET()
}

// hold keeps addresses of n lines, and distances of rows of the tile, in registers.
func (t *packer) hold(n int) {
	if n <= 4 {
		for i := range n {
			row := GP64()
			MOVQ(operand.Mem{Base: t.from, Disp: sliceSize * i}, row)
			t.rows = append(t.rows, row)
		}
	}
	t.triple = GP64()
	LEAQ(operand.Mem{Base: t.line, Index: t.line, Scale: 2}, t.triple)
	if n == 8 {
		t.half = GP64()
		LEAQ(operand.Mem{Base: t.tile, Index: t.line, Scale: 4}, t.half)
	}
}

// points is a block of points of line i.
func (t *packer) points(i int) operand.Mem {
	if t.rows != nil {
		return operand.Mem{Base: t.rows[i], Index: t.at, Scale: 1}
	}
	row := GP64()
	MOVQ(operand.Mem{Base: t.from, Disp: sliceSize * i}, row)
	return operand.Mem{Base: row, Index: t.at, Scale: 1}
}

// lanes are the lanes of point i of a block.
func (t *packer) lanes(i int) operand.Mem {
	base := t.tile
	if i >= 4 {
		base = t.half
	}
	switch i % 4 {
	case 0:
		return operand.Mem{Base: base}
	case 3:
		return operand.Mem{Base: base, Index: t.triple, Scale: 1}
	}
	return operand.Mem{Base: base, Index: t.line, Scale: uint8(i % 4)}
}

// transposed returns the transpose of a square of complex numbers.
func (t *packer) transposed(v []reg.VecVirtual) []reg.VecVirtual {
	switch {
	case t.size == 8 && !t.wide:
		return []reg.VecVirtual{t.halves(v[0], v[1], 0x20), t.halves(v[0], v[1], 0x31)}
	case t.size == 8:
		return t.quarters(v)
	case !t.wide:
		low, high := t.pairs(v)
		return []reg.VecVirtual{
			t.halves(low[0], low[1], 0x20), t.halves(high[0], high[1], 0x20),
			t.halves(low[0], low[1], 0x31), t.halves(high[0], high[1], 0x31),
		}
	}
	low, high := t.pairs(v)
	even, odd := t.quarters(low), t.quarters(high)
	var all []reg.VecVirtual
	for i := range even {
		all = append(all, even[i], odd[i])
	}
	return all
}

// pairs joins numbers of 64 bits of two neighbours: those of even and those of odd places.
func (t *packer) pairs(v []reg.VecVirtual) (low, high []reg.VecVirtual) {
	for i := 0; i < len(v); i += 2 {
		l, h := t.register(), t.register()
		VUNPCKLPD(v[i+1], v[i], l)
		VUNPCKHPD(v[i+1], v[i], h)
		low, high = append(low, l), append(high, h)
	}
	return low, high
}

// halves joins a half each of two vectors of 32 bytes.
func (t *packer) halves(a, b reg.VecVirtual, which uint8) reg.VecVirtual {
	r := t.register()
	VPERM2F128(operand.U8(which), b, a, r)
	return r
}

// quarters transposes a square of numbers of 128 bits.
func (t *packer) quarters(v []reg.VecVirtual) []reg.VecVirtual {
	shuffled := func(a, b reg.VecVirtual, which uint8) reg.VecVirtual {
		r := t.register()
		VSHUFF64X2(operand.U8(which), b, a, r)
		return r
	}
	a, b := shuffled(v[0], v[1], 0x44), shuffled(v[0], v[1], 0xEE)
	c, d := shuffled(v[2], v[3], 0x44), shuffled(v[2], v[3], 0xEE)
	return []reg.VecVirtual{shuffled(a, c, 0x88), shuffled(a, c, 0xDD), shuffled(b, d, 0x88), shuffled(b, d, 0xDD)}
}
