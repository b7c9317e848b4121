package executor

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/segment"
)

// foldBlock is how many bytes are folded at a time where the result goes to
// several places: it stays in the first-level cache while it is copied.
const foldBlock = 16 << 10

// A folder does the folds of a member. It keeps the memory that they need.
type folder struct {
	sources [][]byte // of the fold that is being done
	temp    []byte   // for folds whose result lies in a source
}

// fold runs a combine: the fold of the sources, in their order, goes to every
// destination. A destination may be exactly one of the sources.
func (f *folder) fold(e *Execution, in *instruction) {
	switch in.arity {
	case pair:
		all := e.of.parts[in.at:][:3]
		e.kernel(e.bytes(&all[0]), e.bytes(&all[1]), e.bytes(&all[2]))
		return
	case single:
		all := e.of.parts[in.at:][:2]
		segment.Copy(e.bytes(&all[0]), e.bytes(&all[1]))
		return
	case copies:
		e.copyAll(e.of.parts[in.at:][:3])
		return
	case few:
		w := &e.of.works[in.at]
		f.foldFew(e, e.of.parts[w.at:][:1+w.srcs])
		return
	}
	w := &e.of.works[in.at]
	dst, src := e.of.sides(w)
	n := dst[0].n
	switch {
	case w.ahead:
		f.foldAhead(e, dst, src)
	case len(dst) == 1:
		f.foldPart(e, w, 0, n)
	default:
		for at := 0; at < n; at += e.of.block {
			f.foldPart(e, w, at, min(e.of.block, n-at))
		}
	}
}

// foldFew folds all but the first of some operands into it, two at a time, which for few bytes costs less than to
// make slices of all sources. Until the last pair the result is kept apart from the first, which may be any of them.
func (f *folder) foldFew(e *Execution, all []operand) {
	out, acc := e.bytes(&all[0]), e.bytes(&all[1])
	sum, last := f.temporary(len(out)), len(all)-1
	for i := 2; i < last; i++ {
		e.kernel(sum, acc, e.bytes(&all[i]))
		acc = sum
	}
	e.kernel(out, acc, e.bytes(&all[last]))
}

// foldPart folds n bytes from byte at of the operands.
func (f *folder) foldPart(e *Execution, w *work, at, n int) {
	dst, src := e.of.sides(w)
	first := int(w.first)
	out := e.bytes(&dst[first])[at : at+n]
	switch len(src) {
	case 1:
		segment.Copy(out, e.bytes(&src[0])[at:at+n])
	case 2:
		e.kernel(out, e.bytes(&src[0])[at:at+n], e.bytes(&src[1])[at:at+n])
	default:
		f.foldMany(e, w, out, at, n)
	}
	for i := range dst {
		if i != first {
			segment.Copy(e.bytes(&dst[i])[at:at+n], out)
		}
	}
}

// foldMany folds three sources or more into out.
func (f *folder) foldMany(e *Execution, w *work, out []byte, at, n int) {
	_, src := e.of.sides(w)
	sources := f.sources[:0]
	for i := range src {
		sources = append(sources, e.bytes(&src[i])[at:at+n])
	}
	f.sources = sources
	switch {
	case e.of.folds.Many == nil || w.aliased:
		f.foldPairs(e, out, sources)
	default:
		e.of.folds.Many(out, sources)
	}
	clear(f.sources)
}

// foldPairs folds two at a time. Until the last pair the result is kept apart from
// out, which may be any of the sources.
func (f *folder) foldPairs(e *Execution, out []byte, sources [][]byte) {
	last := len(sources) - 1
	acc := sources[0]
	for _, src := range sources[1:last] {
		sum := f.temporary(len(out))
		e.kernel(sum, acc, src)
		acc = sum
	}
	e.kernel(out, acc, sources[last])
}

// temporary is n bytes that hold nothing for long, aligned for every element.
func (f *folder) temporary(n int) []byte {
	if len(f.temp) < n {
		f.temp = reduce.BytesOf(make([]complex128, (n+15)/16))
	}
	return f.temp[:n]
}

// bytes is the memory of an operand in this run.
func (e *Execution) bytes(o *operand) []byte {
	off := o.off + int(e.shifts[o.turn%rotations])
	return e.operands[o.mem][off : off+o.n : off+o.n]
}

// aim chooses the destination that a fold writes first: one that is none of the
// sources beyond the second, which a fold reads when it has begun to write.
func (w *work) aim(dst, src []operand) {
	if len(src) < 3 {
		return
	}
	w.aliased = true
	for i, d := range dst {
		if !slices.Contains(src[2:], d) {
			w.first, w.aliased = int32(i), false
			return
		}
	}
}
