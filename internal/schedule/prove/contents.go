package prove

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// written is what a caller writes into a vector before the present run: its
// contribution, and anything where that leaves room. The pieces last until the next call.
func (k *check) written(rank int, buf schedule.Buffer) []piece {
	n := k.memoryOf(int32(rank), buf).n
	m := &k.caller
	m.begin(n)
	rest := leaf{rest: true, run: int32(k.run), rank: int32(rank), local: int32(buf)}
	k.lay(m, 0, piece{n, foldedValue{k.terms.leaf(rest), 0}})
	if in := k.placed(rank, schedule.In); in.Buf == buf {
		k.lay(m, in.Off, piece{in.Len, foldedValue{k.given(rank, 0), 0}})
	}
	if buf >= schedule.Extra(0) {
		k.lay(m, 0, piece{n, foldedValue{k.given(rank, 1+int(buf-schedule.Extra(0))), 0}})
	}
	k.writing = m.appendTo(k.writing[:0], 0, len(m.cells))
	return k.writing
}

// lay stores a piece in a memory that nobody else looks at.
func (k *check) lay(m *memory, off int, p piece) {
	if p.n > 0 {
		i, j := m.carve(off, p.n)
		m.fill(i, j, []piece{p}, nobody)
	}
}

// given is a local vector of a rank as its caller has written it before the run.
func (k *check) given(rank, local int) int32 {
	return k.terms.leaf(leaf{run: int32(k.run), rank: int32(rank), local: int32(local)})
}

// keeps checks what the vectors of a rank hold at the end of the run.
func (k *check) keeps(rank int) error {
	for _, buf := range k.buffers {
		m := k.memoryOf(int32(rank), buf)
		if m.n == 0 {
			continue
		}
		want := k.want(rank, buf)
		i, j, off := 0, 0, 0
		for off < m.n {
			n := min(m.end(i), want.end(j)) - off
			have, must := m.cells[i].held, want.cells[j].held
			have.delta += off - m.cells[i].off
			must.delta += off - want.cells[j].off
			if !k.same(have, must) {
				r := schedule.Region{Rank: int32(rank), Buf: buf, Off: off, Len: n}
				return &Error{Rule: Contents, Run: k.run, Rank: rank, Lane: -1, What: fmt.Sprintf("%v %s", r, k.differ(have, must))}
			}
			off += n
			if off == m.end(i) {
				i++
			}
			if off == want.end(j) {
				j++
			}
		}
	}
	return nil
}

// anything is a wanted sequence that all are equal to.
const anything = -1

// same reports whether an element holds what it must.
func (k *check) same(have, must foldedValue) bool {
	if have == must || must.seq == anything {
		return true
	}
	if have.seq == poison {
		return false
	}
	return k.terms.level(have, k.opts.Ordered) == k.terms.level(must, k.opts.Ordered)
}

// want is what a vector must hold at the end of the run. The memory lasts until the next call.
func (k *check) want(rank int, buf schedule.Buffer) *memory {
	n := k.memoryOf(int32(rank), buf).n
	m := &k.promised
	m.begin(n)
	if n > 0 {
		m.fill(0, 1, k.written(rank, buf), nobody)
	}
	c := k.call
	if c.InPlace && (c.Op == schedule.ReduceScatter && buf == schedule.In || c.Op == schedule.AllToAll && buf == schedule.Out) {
		k.lay(m, 0, piece{n, foldedValue{seq: anything}})
	}
	all := buf >= schedule.Extra(0) && c.Op != schedule.ReduceScatter // have the result
	if out := k.placed(rank, schedule.Out); out.Len > 0 && (out.Buf == buf || all) {
		k.promise(rank, func(off int, p piece) { k.lay(m, out.Off+off, p) })
	}
	return m
}

// promise calls lay for each piece of a rank's result that the operation defines.
func (k *check) promise(rank int, lay func(off int, p piece)) {
	c := k.call
	block := func(off, n, from, index int) { lay(off, piece{n, foldedValue{k.given(from, 0), index}}) }
	switch c.Op {
	case schedule.AllReduce, schedule.Reduce:
		if sum, ok := k.sum(0, c.Size); ok {
			lay(0, piece{c.Count, sum})
		}
	case schedule.ReduceScatter:
		off, n := c.Block(rank)
		sum, _ := k.sum(0, c.Size)
		lay(0, piece{n, foldedValue{sum.seq, off}})
	case schedule.Broadcast:
		block(0, c.Count, c.Root, 0)
	case schedule.AllGather, schedule.Gather:
		for i := range c.Size {
			off, n := c.Block(i)
			block(off, n, i, 0)
		}
	case schedule.Scatter:
		off, n := c.Block(rank)
		block(0, n, c.Root, off)
	case schedule.AllToAll:
		for i := range c.Size {
			off, n := c.Received(rank, i)
			from, _ := c.Sent(i, rank)
			block(off, n, i, from)
		}
	case schedule.Scan:
		sum, _ := k.sum(0, rank+1)
		lay(0, piece{c.Count, sum})
	case schedule.ExScan:
		if sum, ok := k.sum(0, rank); ok {
			lay(0, piece{c.Count, sum})
		}
	case schedule.Exchange:
		for i := range c.Rounds {
			if p, ok := c.Partner(rank, i); ok {
				part := schedule.Chunk(c.Count, c.Rounds, i)
				block(part.Off, part.Len, p, part.Off)
			}
		}
	}
}

// A promiseKey names a fold of the contributions of some ranks in a run.
type promiseKey struct{ run, from, to int }

// sum is the fold of the contributions of ranks [from,to), false if there are
// none.
func (k *check) sum(from, to int) (foldedValue, bool) {
	key := promiseKey{k.run, from, to}
	if sum, ok := k.wanted[key]; ok {
		return sum, sum.seq != poison
	}
	var sum foldedValue
	for r := from; r < to; r++ {
		if e := k.call.Engaged; e != nil && k.call.Op == schedule.Reduce && !e[r] {
			continue
		}
		for local := range k.opts.Locals {
			next := foldedValue{k.given(r, local), 0}
			if sum.seq == poison {
				sum = next
			} else {
				sum = k.terms.join(sum, next)
			}
		}
	}
	k.wanted[key] = sum
	return sum, sum.seq != poison
}
