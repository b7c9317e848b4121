package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// generate emits one kernel for at least one vector of bytes. It combines the
// sources from left to right.
//
// The first and the last vector are computed before the loop, from operands
// that nothing has been written over, and stored after it. In between, the loop
// takes whole vectors at aligned destinations; where it overlaps the first or
// the last vector, both computed the same. So no length or alignment needs a
// loop over single elements, and dst may be an operand. Stores that cross no
// cache line are worth it: at a dst one element off, 8 KiB take 128 ns instead
// of 184, 64 KiB 1.45 us instead of 1.69 (AVX2).
//
// Destinations of a kernel that stores in several places are prefetched, all of them.
func generate(m machine, k kernel, name string, places, sources []string) {
	c := &context{m: m, constants: map[string]reg.VecVirtual{}}
	TEXT(name, NOSPLIT, fmt.Sprintf("func(%s *byte, n uint64)", strings.Join(slices.Concat(places, sources), ", ")))
	Doc(fmt.Sprintf("%s combines n bytes of %d-byte elements, at least %d.", name, k.size, m.width))
	Pragma("noescape")
	var all []reg.Register
	for _, s := range slices.Concat(places, sources) {
		all = append(all, Load(Param(s), GP64()))
	}
	to, from := all[:len(places)], all[len(places):]
	n := Load(Param("n"), GP64())
	at := func(disp int) (ops []operand.Mem) {
		for _, p := range from {
			ops = append(ops, operand.Mem{Base: p, Disp: disp})
		}
		return ops
	}

	Comment("The last vector; n becomes its offset.")
	SUBQ(operand.U8(m.width), n)
	var ends []operand.Mem
	for _, p := range from {
		ends = append(ends, operand.Mem{Base: p, Index: n, Scale: 1})
	}
	last, end := k.step(c, ends), make([]reg.GPVirtual, len(to))
	for i, p := range to {
		end[i] = GP64()
		LEAQ(operand.Mem{Base: p, Index: n, Scale: 1}, end[i])
	}

	Comment("The first vector; the loop starts where dst is aligned.")
	first, start := k.step(c, at(0)), make([]reg.GPVirtual, len(to))
	for i, p := range to {
		start[i] = GP64()
		MOVQ(p, start[i])
	}
	skip := GP64()
	MOVQ(to[0], skip)
	NEGQ(skip)
	ANDQ(operand.I8((m.width-1)&^(k.size-1)), skip)
	for _, p := range all {
		ADDQ(skip, p)
	}
	SUBQ(skip, n)

	k.loops(c, all, to, n, at)

	Label("done")
	for i := range to {
		c.move(first, operand.Mem{Base: start[i]})
		c.move(last, operand.Mem{Base: end[i]})
	}
	VZEROUPPER()
	RET()
}

// loops emits the rounds of several vectors and the single vectors that follow. The
// destinations are the first of all.
func (k kernel) loops(c *context, all, to []reg.Register, n reg.Register, at func(disp int) []operand.Mem) {
	round := cmp.Or(k.unroll, 4) * c.m.width
	advance := func(bytes int) {
		for _, p := range all {
			ADDQ(operand.I32(bytes), p)
		}
	}
	Label("rounds")
	SUBQ(operand.I32(round), n)
	JLT(operand.LabelRef("rest"))
	if len(to) > 1 {
		for _, p := range to {
			ask(p, round)
		}
	}
	var results []reg.VecVirtual
	for disp := 0; disp < round; disp += c.m.width {
		results = append(results, k.step(c, at(disp)))
	}
	for i, r := range results {
		for _, p := range to {
			c.move(r, operand.Mem{Base: p, Disp: i * c.m.width})
		}
	}
	advance(round)
	JMP(operand.LabelRef("rounds"))

	Label("rest")
	ADDQ(operand.I32(round), n)
	Label("vectors")
	TESTQ(n, n)
	JLE(operand.LabelRef("done"))
	r := k.step(c, at(0))
	for _, p := range to {
		c.move(r, operand.Mem{Base: p})
	}
	advance(c.m.width)
	SUBQ(operand.I32(c.m.width), n)
	JMP(operand.LabelRef("vectors"))
}

// step emits the loads of one vector and what the operation does with it.
func (k kernel) step(c *context, from []operand.Mem) reg.VecVirtual {
	if k.fromMemory != nil {
		return k.fromMemory(c, from[0], from[1])
	}
	x, y := c.vector(), c.vector()
	c.move(from[0], x)
	c.move(from[1], y)
	r := k.combine(c, x, y)
	for _, m := range from[2:] {
		y := c.vector()
		c.move(m, y)
		r = k.combine(c, r, y)
	}
	if k.finish != nil {
		k.finish(c, r)
	}
	return r
}

// move loads or stores a vector at any address.
func (c *context) move(from, to operand.Op) { c.pick(two(VMOVDQU), VMOVDQU64)(from, to) }
