package prove

import "slices"

// A memory is what is known of a buffer: its cells, which lie side by side, in
// order. A cell is elements that were treated alike.
type memory struct {
	cells []cell
	n     int
	spare []cell // for use by fill
}

// A cell begins where it says and ends where the next one begins. The index of
// its value is that of its first element.
type cell struct {
	off    int
	held   foldedValue
	writer int32   // the event that wrote it last, or nobody
	reader int32   // an event that has read it since, or nobody
	others []int32 // further events that have
}

// nobody is no event: it has written what is as the plan's maker left it.
const nobody = -1

// A piece is n elements of one value.
type piece struct {
	n    int
	held foldedValue
}

// begin makes a memory n elements that hold nothing.
func (m *memory) begin(n int) {
	m.n, m.cells = n, m.cells[:0]
	if n > 0 {
		m.cells = append(m.cells, cell{writer: nobody, reader: nobody})
	}
}

// end is where the i-th cell ends.
func (m *memory) end(i int) int {
	if i+1 < len(m.cells) {
		return m.cells[i+1].off
	}
	return m.n
}

// carve makes cells [i,j) cover exactly the n > 0 elements from off.
func (m *memory) carve(off, n int) (i, j int) {
	i = m.split(off)
	return i, m.split(off + n)
}

// split makes a cell begin at off and returns its index.
func (m *memory) split(off int) int {
	if off == m.n {
		return len(m.cells)
	}
	i, end := 0, len(m.cells)
	for i < end {
		if mid := (i + end) / 2; m.cells[mid].off < off {
			i = mid + 1
		} else {
			end = mid
		}
	}
	if i < len(m.cells) && m.cells[i].off == off {
		return i
	}
	c := m.cells[i-1]
	c.held.delta += off - c.off
	c.off = off
	c.others = slices.Clip(c.others)
	m.cells[i-1].others = c.others
	m.cells = slices.Insert(m.cells, i, c)
	return i
}

// fill replaces cells [i,j) by pieces that are as long together, written by writer.
func (m *memory) fill(i, j int, pieces []piece, writer int32) {
	off := m.cells[i].off
	m.spare = m.spare[:0]
	for _, p := range pieces {
		if last := len(m.spare) - 1; last < 0 || !follows(m.spare[last], off, p.held) {
			m.spare = append(m.spare, cell{off: off, held: p.held, writer: writer, reader: nobody})
		}
		off += p.n
	}
	m.cells = slices.Replace(m.cells, i, j, m.spare...)
}

// follows reports whether a value at off goes on with what the cell holds.
func follows(c cell, off int, held foldedValue) bool {
	return c.held.seq == held.seq && c.held.delta+off-c.off == held.delta
}

// appendTo appends what cells [i,j) hold.
func (m *memory) appendTo(dst []piece, i, j int) []piece {
	for ; i < j; i++ {
		dst = append(dst, piece{m.end(i) - m.cells[i].off, m.cells[i].held})
	}
	return dst
}
