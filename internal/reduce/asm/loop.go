package main

import (
	"cmp"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// generate emits one kernel for at least one vector of bytes.
//
// The first and the last vector are computed before the loop, from operands
// that nothing has been written over, and stored after it. In between, the loop
// takes whole vectors at aligned destinations; where it overlaps the first or
// the last vector, both computed the same. So no length or alignment needs a
// loop over single elements, and dst may be an operand. Stores that cross no
// cache line are worth it: at a dst one element off, 8 KiB take 128 ns instead
// of 184, 64 KiB 1.45 us instead of 1.69 (AVX2).
func generate(m machine, k kernel) {
	c := &context{m: m, constants: map[string]reg.VecVirtual{}}
	unroll := cmp.Or(k.unroll, 4)
	TEXT(k.function(m), NOSPLIT, "func(dst, a, b *byte, n uint64)")
	Doc(fmt.Sprintf("%s combines n bytes of %d-byte elements, at least %d.", k.function(m), k.size, m.width))
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	n := Load(Param("n"), GP64())
	at := func(p reg.Register, disp int) operand.Mem { return operand.Mem{Base: p, Disp: disp} }

	Comment("The last vector; n becomes its offset.")
	SUBQ(operand.U8(m.width), n)
	last := k.step(c, operand.Mem{Base: a, Index: n, Scale: 1}, operand.Mem{Base: b, Index: n, Scale: 1})
	end := GP64()
	LEAQ(operand.Mem{Base: dst, Index: n, Scale: 1}, end)

	Comment("The first vector; the loop starts where dst is aligned.")
	first, start := k.step(c, at(a, 0), at(b, 0)), GP64()
	MOVQ(dst, start)
	skip := GP64()
	MOVQ(dst, skip)
	NEGQ(skip)
	ANDQ(operand.I8((m.width-1)&^(k.size-1)), skip)
	ADDQ(skip, dst)
	ADDQ(skip, a)
	ADDQ(skip, b)
	SUBQ(skip, n)

	Label("rounds")
	SUBQ(operand.I32(unroll*m.width), n)
	JLT(operand.LabelRef("rest"))
	results := make([]reg.VecVirtual, unroll)
	for i := range results {
		results[i] = k.step(c, at(a, i*m.width), at(b, i*m.width))
	}
	for i, r := range results {
		c.store(r, at(dst, i*m.width))
	}
	for _, p := range []reg.Register{dst, a, b} {
		ADDQ(operand.I32(unroll*m.width), p)
	}
	JMP(operand.LabelRef("rounds"))

	Label("rest")
	ADDQ(operand.I32(unroll*m.width), n)
	Label("vectors")
	TESTQ(n, n)
	JLE(operand.LabelRef("done"))
	c.store(k.step(c, at(a, 0), at(b, 0)), at(dst, 0))
	for _, p := range []reg.Register{dst, a, b} {
		ADDQ(operand.I32(m.width), p)
	}
	SUBQ(operand.I32(m.width), n)
	JMP(operand.LabelRef("vectors"))

	Label("done")
	c.store(first, at(start, 0))
	c.store(last, at(end, 0))
	VZEROUPPER()
	RET()
}

// step emits the loads of one vector and what the operation does with it.
func (k kernel) step(c *context, a, b operand.Mem) reg.VecVirtual {
	if k.fromMemory != nil {
		return k.fromMemory(c, a, b)
	}
	x, y := c.vector(), c.vector()
	c.move(a, x)
	c.move(b, y)
	return k.combine(c, x, y)
}

func (c *context) store(r reg.VecVirtual, to operand.Mem) { c.move(r, to) }

// move loads or stores a vector at any address.
func (c *context) move(from, to operand.Op) { c.pick(two(VMOVDQU), VMOVDQU64)(from, to) }
