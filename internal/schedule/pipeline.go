package schedule

// Segmentation says how a call is cut into segments that are under way at the
// same time.
type Segmentation struct {
	// Size is the elements of a segment, 0 for no fixed size. Of a blockwise
	// operation it is the elements of each block.
	Size int
	// Concurrency is how many segments are under way at a time; there are exactly
	// as many unless Size is set. 0 or 1 means one after the other.
	Concurrency int
}

// Segments are the ranges of n elements.
func (s Segmentation) Segments(n int) []Range {
	if s.Size > 0 {
		return FixedSize(n, s.Size)
	}
	return FixedConcurrency(n, max(s.Concurrency, 1))
}

// UnderWay is how many of n elements are under way at a time.
func (s Segmentation) UnderWay(n int) int {
	if s.Size > 0 {
		return min(n, s.Size*max(s.Concurrency, 1))
	}
	return n
}

// Pipeline runs an algorithm on each segment of the vector, several at a time.
// Segments that are under way together have scratch and slots of their own; one
// takes over those of the segment before it in its lanes, after a flush and each
// piece of scratch for the same purpose, however long the segments are: so what an
// algorithm knows of a piece from one run to the next it also knows from segment to
// segment. An algorithm that uses Flip or Eager is given memory of its own for every segment.
// An Exchange is not cut, since the round an element belongs to depends on the length.
func Pipeline(how Segmentation, emit Emitter) Emitter {
	return func(b *Builder, c *Call) {
		parts := c.segments(how)
		if len(parts) == 1 {
			b.sub(parts[0], nil, emit)
			return
		}
		groups := len(parts)
		if how.Concurrency > 0 {
			groups = min(groups, how.Concurrency)
		} else {
			groups = 1
		}
		need, rooms := b.need(parts, emit)
		if need.flip+need.eagerSlots > 0 {
			groups = len(parts)
		}
		start := b.claims
		b.reserve(start.plus(need, groups))
		for i, part := range parts {
			b.claims = start.plus(need, i%groups)
			if i >= groups {
				b.flushLanes(b.claims.lanes, need.lanes)
			}
			b.sub(part, rooms, emit)
		}
		b.claims = start.plus(need, groups)
	}
}

// plus is the claims after n times need.
func (c claims) plus(need claims, n int) claims {
	return claims{
		c.slots + n*need.slots, c.scratch + n*need.scratch, c.flip + n*need.flip, c.lanes + n*need.lanes,
		c.eagerSlots + n*need.eagerSlots, c.eager + n*need.eager,
	}
}

// flushLanes flushes n lanes from the first on.
func (b *Builder) flushLanes(first, n int) {
	back := b.lane
	for i := range n {
		b.lane = first + i
		b.Flush()
	}
	b.lane = back
}

// sub emits a call on part of the vector in the lanes from the present claim on,
// with so much room for each piece of scratch.
func (b *Builder) sub(p part, rooms []int, emit Emitter) {
	back := *b
	b.lane, b.layout = b.claims.lanes, remembered(within(b.layout, p.layout))
	b.asked, b.rooms = nil, rooms
	b.claims.lanes++
	emit(b, &p.call)
	b.lane, b.layout, b.asked, b.rooms = back.lane, back.layout, back.asked, back.rooms
}

// need is what the most demanding of the parts claims, and how much each piece of
// scratch then is.
func (b *Builder) need(parts []part, emit Emitter) (most claims, rooms []int) {
	other := 0                 // scratch that a Pipeline inside claims for its segments
	seen := make(map[int]bool) // segments differ by their length alone
	for _, p := range parts {
		if seen[p.length] {
			continue
		}
		seen[p.length] = true
		dry := &Builder{s: &Schedule{Rank: b.s.Rank, Size: b.s.Size}, layout: within(b.layout, p.layout), line: b.line, dry: true}
		dry.claims.lanes = 1
		emit(dry, &p.call)
		most = most.atLeast(dry.claims)
		other = max(other, dry.claims.scratch-total(dry.asked))
		for i, n := range dry.asked {
			if i == len(rooms) {
				rooms = append(rooms, 0)
			}
			rooms[i] = max(rooms[i], n)
		}
	}
	most.scratch = total(rooms) + other
	return most, rooms
}

func total(all []int) int {
	n := 0
	for _, k := range all {
		n += k
	}
	return n
}

// A part is a segment of a call: a call of its own whose vectors lie in those of
// the whole.
type part struct {
	call   Call
	layout Layout
	length int
}

// segments cuts the call. A blockwise call is cut within each block.
func (c *Call) segments(how Segmentation) []part {
	if c.Op == Exchange {
		how = Segmentation{}
	}
	var parts []part
	for _, s := range how.Segments(c.Longest()) {
		sub := *c
		sub.Count = s.Len
		p := part{length: s.Len}
		if !c.Op.Blockwise() {
			p.layout = shifted(s)
		} else {
			if c.Counts != nil {
				sub.Counts = make([]int, len(c.Counts))
				for i, n := range c.Counts {
					sub.Counts[i] = max(0, min(s.Off+s.Len, n)-s.Off)
				}
			}
			p.layout = blockwise(c, &sub, s.Off)
		}
		p.call = sub
		parts = append(parts, p)
	}
	if c.Counts != nil { // lengths no longer say all
		for i := range parts {
			parts[i].length = -1 - i
		}
	}
	return parts
}

// shifted is the layout of a segment of plain vectors.
func shifted(s Range) Layout {
	in, out := []Piece{{Len: s.Len, Buf: In, Off: s.Off}}, []Piece{{Len: s.Len, Buf: Out, Off: s.Off}}
	return func(buf Buffer, _ int) []Piece {
		switch buf {
		case In:
			return in
		case Out:
			return out
		}
		return []Piece{{Len: s.Len, Buf: buf, Off: s.Off}}
	}
}

// blockwise is the layout of a segment of vectors that consist of blocks. It is for one goroutine at a time.
func blockwise(c, sub *Call, shift int) Layout {
	alike := make(map[Buffer][]Piece) // vectors of the same blocks at all ranks, that were asked for
	return func(buf Buffer, rank int) []Piece {
		all := alike[buf]
		if all != nil {
			return all
		}
		block, subBlock := blocksOf(c, buf, rank), blocksOf(sub, buf, rank)
		all = make([]Piece, len(block))
		for i := range block {
			all[i] = Piece{At: subBlock[i].Off, Len: subBlock[i].Len, Buf: buf, Off: block[i].Off + min(shift, block[i].Len)}
		}
		if !oneBlock(c, buf) && (c.Op != AllToAll || c.Counts == nil) {
			alike[buf] = all
		}
		return all
	}
}

// oneBlock reports whether a buffer of a blockwise operation is one block.
func oneBlock(c *Call, buf Buffer) bool {
	return buf == In && (c.Op == AllGather || c.Op == Gather) || buf == Out && (c.Op == ReduceScatter || c.Op == Scatter)
}

// blocksOf are the blocks that a buffer of a rank consists of.
func blocksOf(c *Call, buf Buffer, rank int) []Range {
	if oneBlock(c, buf) {
		_, n := c.Block(rank)
		return []Range{{0, n}}
	}
	all := make([]Range, c.Size)
	off := 0
	for i := range all {
		n := c.Count
		switch {
		case c.Counts == nil:
		case c.Op != AllToAll:
			n = c.Counts[i]
		case buf == In:
			n = c.Counts[rank*c.Size+i]
		default:
			n = c.Counts[i*c.Size+rank]
		}
		all[i] = Range{off, n}
		off += n
	}
	return all
}
