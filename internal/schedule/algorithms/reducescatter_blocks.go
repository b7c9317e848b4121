package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// reduceScatterBlocks is Gloo's reduce_scatter by halving and doubling on binary
// blocks, as in allReduceHalving; then the owners of chunks distribute them as the
// counts say (their order is that of reversed bits, and the counts are arbitrary).
// It needs a step more than reduceScatterHalving, and keeps the order of ranks.
//
// Cost: log P + 1 steps, P rounded up to a power of two; about n elements sent and n
// combined; about 2n elements of scratch. A receiver signals its sender when it has read a
// block, and the sender awaits that at the end.
func reduceScatterBlocks(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	total := c.Total()
	folded := b.Scratch(total)
	h := claimHalver(b, p, total, func(off, n int) schedule.Region { return folded.At(me, off, n) })
	halved, joined, spread := b.Slots(len(h.got)), b.Slots(h.chunks), b.Slots(h.chunks)
	h.divide(func(level, partner int) { b.Signal(partner, halved+level) })
	first, n := h.share(h.levels)
	if h.mine > 0 {
		h.sendUp()
	} else {
		r := h.joinAll()
		for i := 1; i < len(h.blocks); i++ {
			b.Signal(h.owner(i, first), joined+first%(h.chunks/h.blocks[i].Len))
		}
		own := h.own(h.levels, r)
		if len(h.blocks) > 1 {
			own = h.part(r.Off, r.Len)
		}
		spreadChunk(b, c, r, own, spread+first)
	}
	receiveChunks(b, c, h, spread)
	for level := range h.levels {
		b.Await(halved + level)
	}
	if h.mine > 0 {
		for i := range n {
			b.Await(joined + i)
		}
	}
}

// spreadChunk sends a finished chunk, which lies in own, to those whose blocks it
// is part of.
func spreadChunk(b *schedule.Builder, c *schedule.Call, r schedule.Range, own schedule.Region, slot int) {
	for d := range c.Size {
		to := mod(b.Rank()+d, c.Size)
		off, n := c.Block(to)
		at, end := max(off, r.Off), min(off+n, r.Off+r.Len)
		if at >= end {
			continue
		}
		src, dst := own.Part(at-r.Off, end-at), b.Out(to, at-off, end-at)
		if to == b.Rank() {
			b.Copy(dst, src)
		} else {
			b.Put(dst, src, slot)
		}
	}
}

// receiveChunks awaits all of the rank's block.
func receiveChunks(b *schedule.Builder, c *schedule.Call, h *halver, slot int) {
	off, n := c.Block(b.Rank())
	for chunk := range h.chunks {
		r := h.elements(chunk, 1)
		if max(off, r.Off) < min(off+n, r.Off+r.Len) && h.owner(0, chunk) != b.Rank() {
			b.Await(slot + chunk)
		}
	}
}

// reduceScatterBlocksFormula is the halving of all, the join of smaller blocks, and the way of
// the chunks to those whose blocks they are.
func reduceScatterBlocksFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	halve, join, back := halvingStages(s, c.Size, n*p)
	for i := range halve {
		halve[i].Credits = 1
	}
	stages := slices.Concat(halve, join)
	spread := price.Stage{Route: s.Reversed(), Peers: 1, Elements: n}
	if s.Nodes > 1 && spread.Route.Out == 0 { // all copy, and hear that the last blocks were read
		spread = price.Stage{Route: halve[len(halve)-1].Route, Peers: 1, Copy: price.Local{Elements: n, Sources: 1, Scratch: 1}}
	}
	if len(back) > 0 { // the chunks of fewer ranks are longer than blocks, and of parts of two or three
		chunks := float64(int(1) << len(halve))
		longer := p / chunks
		spread = price.Stage{Route: s.Everybody(), Pairs: s.OnHost(chunks), Peers: 1 + longer, From: 1 + 1/longer, Elements: n * longer / (1 + longer)}
		if s.Nodes > 1 {
			spread.Route.Out = float64(s.Most)
		}
	}
	return price.Profile{Stages: append(stages, spread), Scratch: 2 * n * p}
}
