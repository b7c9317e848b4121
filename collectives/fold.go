package collectives

import "github.com/gaspi-go/gaspi-go/internal/reduce"

// foldBlock is how many bytes are folded at a time: the operands of a block stay
// in the first-level cache while it is stored in several places.
const foldBlock = 32 << 10

// fold runs a combine: the fold of the sources, in their order, goes to every
// destination. A destination may be exactly one of the sources.
func (t *Team) fold(r *run, in *instruction) {
	n := in.dst[0].n
	if len(in.from) == 1 {
		src := r.bytes(&in.from[0])
		for i := range in.dst {
			copy(r.bytes(&in.dst[i]), src)
		}
		return
	}
	if len(in.from) == 2 && len(in.dst) == 1 {
		r.fold(r.bytes(&in.dst[0]), r.bytes(&in.from[0]), r.bytes(&in.from[1]))
		return
	}
	block := foldBlock / r.p.task.elem.size * r.p.task.elem.size
	if block == 0 {
		block = r.p.task.elem.size
	}
	for at := 0; at < n; at += block {
		t.foldPart(r, in, at, min(block, n-at))
	}
}

// foldPart folds n bytes from byte at of the operands.
func (t *Team) foldPart(r *run, in *instruction, at, n int) {
	part := func(o *operand) []byte { return r.bytes(o)[at : at+n] }
	// The last fold writes the first destination, which may be any of the sources:
	// until then the result is kept elsewhere if there is more than one fold.
	acc := part(&in.from[0])
	last := len(in.from) - 1
	for i := 1; i < last; i++ {
		sum := t.temporary(n)
		r.fold(sum, acc, part(&in.from[i]))
		acc = sum
	}
	out := part(&in.dst[0])
	r.fold(out, acc, part(&in.from[last]))
	for i := 1; i < len(in.dst); i++ {
		copy(part(&in.dst[i]), out)
	}
}

// temporary is n bytes that hold nothing for long, aligned for every element.
func (t *Team) temporary(n int) []byte {
	if len(t.temp) < n {
		t.temp = reduce.BytesOf(make([]complex128, (n+15)/16))
	}
	return t.temp[:n]
}

// bytes is the memory of an operand in this run.
func (r *run) bytes(o *operand) []byte {
	mem := o.mem
	if o.flip {
		mem += int32(r.number & 1)
	}
	return r.operands[mem][o.off : o.off+o.n : o.off+o.n]
}
