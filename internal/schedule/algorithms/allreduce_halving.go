package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allReduceHalving is Rabenseifner's algorithm, Gloo's halving-doubling and RSA of
// the paper on pipelined allreduce (Section 3.1): a reduce-scatter by halving the
// vector and doubling distances, and an allgather that retraces its steps. Other
// numbers of ranks than powers of two are cut into binary blocks (Thakur,
// Rabenseifner and Gropp, 2005): each divides the vector among its ranks, smaller
// blocks send their shares to the owners of the chunks in the largest, all at once,
// and get the result back from them.
//
// Cost: 2 log P steps, P rounded up to a power of two; 2n(P-1)/P elements sent and
// n(P-1)/P combined for a power of two, at most 3n sent otherwise; about n
// elements of scratch. The order of ranks is kept. Credits are not needed: in the
// second stage a rank hears from each whom it sent to in the first, and all that it
// sent from where a result is written has been folded into that result.
func allReduceHalving(b *schedule.Builder, c *schedule.Call) {
	me := b.Rank()
	part := func(off, n int) schedule.Region { return b.Out(me, off, n) }
	h := claimHalver(b, c.Size, c.Count, part)
	back, double := b.Slots(h.chunks), b.Slots(len(h.got))
	h.divide(nil)
	if h.mine > 0 {
		h.sendUp()
		_, n := h.share(h.levels)
		for i := range n {
			b.Await(back + i)
		}
	} else {
		r := h.joinAll()
		chunk, _ := h.share(h.levels)
		for i := 1; i < len(h.blocks); i++ {
			b.Put(b.Out(h.owner(i, chunk), r.Off, r.Len), part(r.Off, r.Len), back+chunk%(h.chunks/h.blocks[i].Len))
		}
	}
	for level := h.levels - 1; level >= 0; level-- {
		partner, _ := h.partner(level)
		r := h.elements(h.share(level + 1))
		b.Put(b.Out(partner, r.Off, r.Len), part(r.Off, r.Len), double+level)
		b.Await(double + level)
	}
}

// allReduceHalvingFormula is the halving, the join of smaller blocks, and both backwards.
func allReduceHalvingFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	halve, join, back := halvingStages(s, c.Size, n)
	stages := slices.Concat(halve, join, back)
	for _, g := range slices.Backward(halve) {
		g.Fold = price.Local{}
		stages = append(stages, g)
	}
	return price.Profile{Stages: stages, Scratch: n}
}
