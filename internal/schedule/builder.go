package schedule

import (
	"fmt"
	"slices"
)

// A Builder makes the schedule of one rank. Memory and slots are asked for in the
// same order on all ranks, so that all of them number them alike: what an
// algorithm asks for depends on the call and not on the rank.
type Builder struct {
	s      *Schedule
	layout Layout
	line   int

	dry    bool    // steps are only counted as claims, see need, or looked for, see Posters
	seek   *search // nil if no step is looked for
	lane   int     // where steps go
	claims claims
	stock  *stock // nil if dry
	asked  []int  // how much scratch each call of Scratch asked for
	rooms  []int  // how much to keep for each, at least: see need
}

// claims is how much has been asked for.
type claims struct{ slots, scratch, flip, lanes, eagerSlots, eager int }

func (c claims) atLeast(d claims) claims {
	return claims{
		max(c.slots, d.slots), max(c.scratch, d.scratch), max(c.flip, d.flip), max(c.lanes, d.lanes),
		max(c.eagerSlots, d.eagerSlots), max(c.eager, d.eager),
	}
}

// An Emitter is an algorithm: it writes into b what the rank of b does.
type Emitter func(b *Builder, c *Call)

// Build is the schedule of one rank for a call, as an algorithm makes it.
func Build(c *Call, rank int, emit Emitter) *Schedule { return build(c, rank, emit, new(stock)) }

func build(c *Call, rank int, emit Emitter, from *stock) *Schedule {
	b := &Builder{
		s: &Schedule{Rank: rank, Size: c.Size, stock: from}, layout: c.Layout(), line: max(c.Line, 1),
		claims: claims{lanes: 1}, stock: from,
	}
	emit(b, c)
	b.reserve(b.claims)
	b.s.Lanes = slices.DeleteFunc(b.s.Lanes, func(l Lane) bool { return len(l) == 0 })
	return b.s
}

// reserve makes room in the schedule.
func (b *Builder) reserve(c claims) {
	b.s.Slots, b.s.Scratch, b.s.Flip = max(b.s.Slots, c.slots), max(b.s.Scratch, c.scratch), max(b.s.Flip, c.flip)
	b.s.EagerSlots, b.s.Eager = max(b.s.EagerSlots, c.eagerSlots), max(b.s.Eager, c.eager)
	for len(b.s.Lanes) < c.lanes {
		b.s.Lanes = append(b.s.Lanes, nil)
	}
}

// Rank is whose schedule is built.
func (b *Builder) Rank() int { return b.s.Rank }

// Slots claims n slots at every rank and returns the first.
func (b *Builder) Slots(n int) int {
	first := b.claims.slots
	b.claims.slots += n
	return first
}

// A Memory is part of the plan's memory, the same at every rank.
type Memory struct {
	buf    Buffer
	off, n int
}

// At is the region of n elements from element off of the memory at a rank.
func (m Memory) At(rank, off, n int) Region {
	return Region{Rank: int32(rank), Buf: m.buf, Off: m.off, Len: m.n}.Part(off, n)
}

// Scratch claims n elements of scratch at every rank, on cache lines of their own.
func (b *Builder) Scratch(n int) Memory {
	m := Memory{Scratch, b.claims.scratch, n}
	room := b.RoundUp(n)
	if i := len(b.asked); i < len(b.rooms) {
		room = max(room, b.rooms[i])
	}
	b.asked = append(b.asked, room)
	b.claims.scratch += room
	return m
}

// Flip is Scratch that consecutive runs use in turns.
func (b *Builder) Flip(n int) Memory {
	m := Memory{Flip, b.claims.flip, n}
	b.claims.flip += b.RoundUp(n)
	return m
}

// Eager is Scratch of which runs use one copy after the other: see Depth.
func (b *Builder) Eager(n int) Memory {
	m := Memory{Eager, b.claims.eager, n}
	b.claims.eager += b.RoundUp(n)
	return m
}

// EagerSlots claims n slots at every rank that have a notification for each copy of
// eager memory, and returns the first. A run posts each of them once at most.
func (b *Builder) EagerSlots(n int) int {
	first := FirstEagerSlot + b.claims.eagerSlots
	b.claims.eagerSlots += n
	return first
}

// RoundUp is n elements rounded up to whole cache lines.
func (b *Builder) RoundUp(n int) int { return (n + b.line - 1) / b.line * b.line }

// In is part of a rank's contribution, Out of its result.
func (b *Builder) In(rank, off, n int) Region {
	return Region{Rank: int32(rank), Buf: In, Off: off, Len: n}
}

// Out is part of a rank's result.
func (b *Builder) Out(rank, off, n int) Region {
	return Region{Rank: int32(rank), Buf: Out, Off: off, Len: n}
}

// Fork goes on in n lanes that are not ordered among each other; what was emitted
// before is not ordered before them either. emit is called for each in turn.
func (b *Builder) Fork(n int, emit func(i int)) {
	first := b.claims.lanes
	b.claims.lanes += n
	back := b.lane
	for i := range n {
		b.lane = first + i
		emit(i)
	}
	b.lane = back
}

// Put writes src of this rank to dst of another and posts slot there, unless it
// is NoSlot. An empty put only posts.
func (b *Builder) Put(dst, src Region, slot int) { b.put(dst, src, slot, false) }

// PutApart is Put to memory of Flip or Eager that has cache lines of its own. Where slot is NoSlot, a Signal follows it.
func (b *Builder) PutApart(dst, src Region, slot int) { b.put(dst, src, slot, true) }

func (b *Builder) put(dst, src Region, slot int, apart bool) {
	if dst.Len != src.Len {
		panic(fmt.Sprintf("schedule: put of %d elements into %d", src.Len, dst.Len))
	}
	if b.dry {
		b.emit(Step{Kind: Put, Peer: dst.Rank, Slot: int32(slot)})
		return
	}
	all := append(b.stock.regions(2), dst, src)
	if b.layout.move(all) {
		b.emit(Step{Kind: Put, Apart: apart, Peer: dst.Rank, Slot: int32(slot), Dst: all[:1:1], Src: all[1:]})
		return
	}
	to, from := b.align(all, 1)
	for i := range to {
		b.emit(Step{Kind: Put, Peer: dst.Rank, Slot: NoSlot, Dst: to[i], Src: from[i]})
	}
	if slot != NoSlot {
		b.Signal(int(dst.Rank), slot)
	}
}

// Signal posts slot at a peer, after all earlier puts of the lane to it.
func (b *Builder) Signal(peer, slot int) {
	b.emit(Step{Kind: Signal, Peer: int32(peer), Slot: int32(slot)})
}

// Await waits for the next post of slot.
func (b *Builder) Await(slot int) { b.await(Step{Kind: Await, Slot: int32(slot)}) }

// AwaitApart is Await of the only post of slot, behind data that peer writes to a region by PutApart.
func (b *Builder) AwaitApart(peer, slot int, data Region) {
	if b.dry {
		return
	}
	b.await(Step{Kind: Await, Apart: true, Peer: int32(peer), Slot: int32(slot), Src: append(b.stock.regions(1), data)})
}

func (b *Builder) await(s Step) {
	if b.dry {
		return
	}
	slot := int(s.Slot)
	counts, at := &b.stock.counts[0], slot
	if slot >= FirstEagerSlot {
		counts, at = &b.stock.counts[1], slot-FirstEagerSlot
	}
	for len(*counts) <= at {
		*counts = append(*counts, 0)
	}
	(*counts)[at]++
	s.Count = (*counts)[at]
	b.emit(s)
}

// Credit gives the copies of eager memory that a peer writes to here back to it, a
// batch at a time.
func (b *Builder) Credit(peer, slot int) {
	b.emit(Step{Kind: Credit, Peer: int32(peer), Slot: int32(slot)})
}

// AwaitCredit waits until the peer that credits slot has given back the copy of its
// eager memory that this run uses.
func (b *Builder) AwaitCredit(slot int) { b.emit(Step{Kind: AwaitCredit, Slot: int32(slot)}) }

// Combine stores the fold of the sources, in their order, in dst, which may be
// exactly one of the sources.
func (b *Builder) Combine(dst Region, src ...Region) { b.CombineAll([]Region{dst}, src) }

// Copy copies src to dst, or does nothing if they are the same.
func (b *Builder) Copy(dst, src Region) { b.CombineAll([]Region{dst}, []Region{src}) }

// CombineAll is Combine into several regions.
func (b *Builder) CombineAll(dst, src []Region) {
	if b.dry {
		return
	}
	all := append(append(b.stock.regions(len(dst)+len(src)), dst...), src...)
	if b.layout.move(all) { // nearly always, and choosing an algorithm at run time builds many schedules
		b.combine(all[:len(dst):len(dst)], all[len(dst):])
		return
	}
	to, from := b.align(all, len(dst))
	for i := range to {
		b.combine(to[i], from[i])
	}
}

// combine emits a step whose regions are where they really lie, unless it does
// nothing.
func (b *Builder) combine(dst, src []Region) {
	if src[0].Len > 0 && (len(src) > 1 || len(dst) > 1 || src[0] != dst[0]) {
		b.emit(Step{Kind: Combine, Dst: dst, Src: src})
	}
}

// Encode stores the coded form of src in dst, which has room for CodedLen of it.
func (b *Builder) Encode(dst, src Region) {
	if b.dry {
		return
	}
	b.emit(Step{Kind: Encode, Dst: []Region{b.place(dst)}, Src: []Region{b.place(src)}})
}

// Decode stores in dst what src is the coded form of.
func (b *Builder) Decode(dst, src Region) {
	if b.dry {
		return
	}
	b.emit(Step{Kind: Decode, Dst: []Region{b.place(dst)}, Src: []Region{b.place(src)}})
}

// Flush frees the sources of all earlier puts of the lane.
func (b *Builder) Flush() { b.emit(Step{Kind: Flush}) }

// Line is the elements in a cache line.
func (b *Builder) Line() int { return b.line }

func (b *Builder) emit(s Step) {
	if b.dry {
		b.seek.see(&s)
		return
	}
	b.reserve(b.claims)
	lane := b.s.Lanes[b.lane]
	if lane == nil {
		like := 0
		if b.lane > 0 {
			like = len(b.s.Lanes[b.lane-1]) // lanes are mostly as long as the one before
		}
		lane = b.stock.lane(like)
	}
	b.s.Lanes[b.lane] = append(lane, s)
}

// place is the real region of r, which must lie in one piece.
func (b *Builder) place(r Region) Region {
	at := b.layout.locate(nil, r)
	if len(at) != 1 {
		panic("schedule: coded regions lie in one piece")
	}
	return at[0]
}

// align places the regions of a step, of which so many are destinations, and cuts
// them so that each step has every region in one piece. It returns the regions of
// each of the steps.
func (b *Builder) align(all []Region, destinations int) (to, from [][]Region) {
	pieces := make([][]Region, len(all))
	for i, r := range all {
		if r.Len != all[0].Len {
			panic(fmt.Sprintf("schedule: one step on %d and %d elements", all[0].Len, r.Len))
		}
		pieces[i] = b.layout.locate(nil, r)
	}
	for {
		n := pieces[0][0].Len
		for _, p := range pieces {
			n = min(n, p[0].Len)
		}
		cut := make([]Region, len(all))
		for i, p := range pieces {
			cut[i] = p[0].Part(0, n)
			if rest := p[0].Part(n, p[0].Len-n); rest.Len > 0 {
				p[0] = rest
			} else {
				pieces[i] = p[1:]
			}
		}
		to, from = append(to, cut[:destinations:destinations]), append(from, cut[destinations:])
		if len(pieces[0]) == 0 {
			return to, from
		}
	}
}
