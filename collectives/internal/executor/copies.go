package executor

import "github.com/gaspi-go/gaspi-go/segment"

// Algorithms that pack a block for each member copy from and to places at equal distances. Such copies, one after the
// other, are one instruction, so that a plan has few instructions for many members. Its parts are the destination and
// the source of the first copy, and an operand of which mem is the number of copies, off the bytes from one destination
// to the next, and n those from one source to the next.

// joins makes a copy part of the copies at the end of a lane, and reports whether it continues them.
func (c *compiler) joins(l lane, in *instruction) bool {
	k := len(l) - 1
	if k < 0 || in.arity != single { // of combines alone
		return false
	}
	before, all := &l[k], c.x.parts
	if before.arity != single && before.arity != copies {
		return false
	}
	first, next := all[before.at:][:2], all[in.at:][:2]
	if !first[0].like(next[0]) || !first[1].like(next[1]) {
		return false
	}
	if before.arity == single {
		by := operand{mem: 2, off: next[0].off - first[0].off, n: next[1].off - first[1].off}
		before.arity, c.x.parts = copies, append(all[:in.at], by)
		return true
	}
	by := &all[before.at+2]
	if next[0].off != first[0].off+int(by.mem)*by.off || next[1].off != first[1].off+int(by.mem)*by.n {
		return false
	}
	by.mem++
	c.x.parts = all[:in.at]
	return true
}

// like reports whether two operands are as many bytes of the same memory.
func (o operand) like(p operand) bool { return o.mem == p.mem && o.n == p.n }

// copyAll does copies, one after the other.
func (e *Execution) copyAll(parts []operand) {
	dst, src, by := parts[0], parts[1], &parts[2]
	for range by.mem {
		segment.Copy(e.bytes(&dst), e.bytes(&src))
		dst.off += by.off
		src.off += by.n
	}
}
