package schedule

import "slices"

// Stage runs an algorithm on copies in scratch, for buffers that peers cannot
// reach: In is copied there first and Out back at the end. Inside Pipeline the
// copies are short and stay in the cache. Of n local vectors, In and Extra(0) to
// Extra(n-2), scratch gets the fold, and they stay as they are. The algorithm forks no
// lanes: they would not be ordered after the copies. That holds for StageIn and Fan too.
func Stage(n int, emit Emitter) Emitter {
	return func(b *Builder, c *Call) {
		longestIn, longestOut := 0, 0
		for r := range c.Size {
			longestIn, longestOut = max(longestIn, c.InLen(r)), max(longestOut, c.OutLen(r))
		}
		inner := *c
		inner.InPlace = c.Op == Broadcast
		in, out := b.Scratch(longestIn), Memory{}
		if c.Op == Broadcast {
			out = in
		} else {
			out = b.Scratch(longestOut)
		}
		outer, me := b.layout, b.Rank()
		b.fetch(in, n, c.InLen(me))
		ofIn, ofOut := in.pieces(), out.pieces()
		b.layout = func(buf Buffer, _ int) []Piece {
			if buf == Out {
				return ofOut
			}
			return ofIn
		}
		emit(b, &inner)
		b.layout = outer
		for _, r := range c.arriving(me) {
			b.Copy(b.Out(me, r.Off, r.Len), out.At(me, r.Off, r.Len))
		}
	}
}

// StageIn is Stage for an algorithm whose ranks do nothing with the buffers of
// peers but combine from their In: each rank copies its In to where peers find it,
// and uses its own buffers where they are. Of several local vectors, as in Stage, it
// uses the fold, and so any algorithm may follow whose Out peers can reach.
func StageIn(n int, emit Emitter) Emitter {
	return func(b *Builder, c *Call) {
		longest := 0
		for r := range c.Size {
			longest = max(longest, c.InLen(r))
		}
		in, outer, me := b.Scratch(longest), b.layout, b.Rank()
		b.fetch(in, n, c.InLen(me))
		ofIn := in.pieces()
		b.layout = func(buf Buffer, rank int) []Piece {
			if buf == In && (rank != me || n > 1) {
				return ofIn
			}
			if outer == nil {
				return nil
			}
			return outer(buf, rank)
		}
		inner := *c
		inner.InPlace = c.InPlace && c.Op != AllToAll && n == 1 // what peers read is apart from what arrives
		emit(b, &inner)
		b.layout = outer
	}
}

// pieces is where a vector lies that lies in m.
func (m Memory) pieces() []Piece { return []Piece{{Len: m.n, Buf: m.buf, Off: m.off}} }

// fetch stores the first elements of n local vectors in scratch of this rank: In, or the fold of In
// and Extra(0) to Extra(n-2).
func (b *Builder) fetch(to Memory, n, elements int) {
	me := b.Rank()
	b.Combine(to.At(me, 0, elements), append([]Region{b.In(me, 0, elements)}, b.extras(n, elements)...)...)
}

// extras are the first elements of all local vectors of this rank but the first of n.
func (b *Builder) extras(n, elements int) []Region {
	var all []Region
	for k := range n - 1 {
		all = append(all, Region{Rank: int32(b.Rank()), Buf: Extra(k), Len: elements})
	}
	return all
}

// arriving are the parts of rank r's Out that the operation writes.
func (c *Call) arriving(r int) []Range {
	switch {
	case c.Op == Broadcast && r == c.Root, c.Op == ExScan && r == 0:
		return nil
	case c.Op == Reduce && c.Engaged != nil && !slices.Contains(c.Engaged, true): // nobody contributes
		return nil
	case c.Op == Exchange: // parts of rounds without a partner are left alone
		var all []Range
		for k := range c.Rounds {
			if _, ok := c.Partner(r, k); ok {
				all = append(all, Chunk(c.Count, c.Rounds, k))
			}
		}
		return all
	}
	return []Range{{0, c.OutLen(r)}}
}

// Fan serves n local vectors instead of one, Gloo's N inputs: they are Out and
// Extra(0) to Extra(n-2). Before the algorithm, which works in place, they are
// folded into Out; after it Out is copied to the others. Inside Pipeline this
// happens segment by segment.
func Fan(n int, emit Emitter) Emitter {
	return func(b *Builder, c *Call) {
		me, count := b.Rank(), c.Count
		src := append([]Region{b.Out(me, 0, count)}, b.extras(n, count)...)
		if n > 1 {
			b.Combine(src[0], src...)
		}
		emit(b, c)
		if n > 1 && c.OutLen(me) > 0 {
			b.CombineAll(src[1:], src[:1])
		}
	}
}
