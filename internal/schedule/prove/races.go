package prove

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// read appends what a region holds and notes that event id reads it.
func (k *check) read(l *lane, id int32, r schedule.Region, dst []piece) ([]piece, error) {
	if r.Len == 0 {
		return dst, nil
	}
	m := k.memoryOf(r.Rank, r.Buf)
	i, j := m.carve(r.Off, r.Len)
	for n := i; n < j; n++ {
		c := &m.cells[n]
		if c.writer != nobody && !k.over(l, c.writer, true) {
			return nil, k.race(id, "reads", m, n, r, c.writer, "writing")
		}
		if what := k.unwritten(c.held); what != "" {
			r.Off, r.Len = c.off, m.end(n)-c.off
			return nil, k.errorAt(&k.events[id], Contents, "reads %v, which holds %s", r, what)
		}
		k.addReader(c, id)
	}
	return m.appendTo(dst, i, j), nil
}

// unwritten says of a value that is not to be read what it is, "" of others.
func (k *check) unwritten(v foldedValue) string {
	switch n := &k.terms.nodes[v.seq]; {
	case v.seq == poison:
		return "anything: nobody has written it"
	case n.kind == 'l' && n.leaf.rest:
		return "what the caller left there"
	}
	return ""
}

// addReader adds an event to the readers of a cell. It takes the place of the last
// one if whoever knows of it knows of that one: two steps of one lane that are no
// puts.
func (k *check) addReader(c *cell, id int32) {
	if c.reader == nobody {
		c.reader = id
		return
	}
	last := &c.reader
	if n := len(c.others); n > 0 {
		last = &c.others[n-1]
	}
	was, is := &k.events[*last], &k.events[id]
	switch {
	case *last == id:
	case was.sent < 0 && is.sent < 0 && was.mark.lane == is.mark.lane && last == &c.reader:
		*last = id
	default:
		c.others = append(c.others, id)
	}
}

// write stores pieces in a region and notes that event id writes it.
func (k *check) write(l *lane, id int32, r schedule.Region, pieces []piece) error {
	m := k.memoryOf(r.Rank, r.Buf)
	i, j := m.carve(r.Off, r.Len)
	for n := i; n < j; n++ {
		c := &m.cells[n]
		if c.writer != nobody && c.writer != id && !k.over(l, c.writer, true) {
			return k.race(id, "writes", m, n, r, c.writer, "writing")
		}
		if c.reader == nobody {
			continue
		}
		if c.reader != id && !k.over(l, c.reader, false) {
			return k.race(id, "writes", m, n, r, c.reader, "reading")
		}
		for _, reader := range c.others {
			if reader != id && !k.over(l, reader, false) {
				return k.race(id, "writes", m, n, r, reader, "reading")
			}
		}
	}
	m.fill(i, j, pieces, id)
	return nil
}

// race is the error of an access to the n-th cell of a memory, of which region
// names rank and buffer, while another may still go on.
func (k *check) race(id int32, does string, m *memory, n int, at schedule.Region, other int32, doing string) error {
	at.Off, at.Len = m.cells[n].off, m.end(n)-m.cells[n].off
	return k.errorAt(&k.events[id], Race, "%s %v while %s may still be %s it", does, at, k.where(&k.events[other]), doing)
}
