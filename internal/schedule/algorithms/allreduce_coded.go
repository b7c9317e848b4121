package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allReduceCoded sends every vector in coded form, for links that are slower than
// coding: each rank codes its part j for rank j, which folds what it decodes, in the
// order of ranks, with its own part as it is, codes the result and sends it to all.
// So a contribution is coded once and a result once: if coding changes an element by
// at most e, the sum is off by at most P times e. The owner, too, goes on with what it
// decodes, and all ranks end with the same bits.
//
// Cost: 2 steps, 2n(P-1)/P elements sent in coded form, n(P-1)/P combined, n(P-1)/P
// and then n encoded, 2n(P-1)/P and n/P decoded by each rank, and 2n + 2n/P elements of
// scratch beside the headers. A result arrives where the rank's contribution to it
// was coded: its owner has received that. Contributions of the next run are sent by
// ranks that have the results of this one, made from those that they overwrite.
func allReduceCoded(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	part := func(i int) schedule.Range { return schedule.Chunk(c.Count, p, i) }
	if p == 1 {
		b.Copy(b.Out(me, 0, c.Count), b.In(me, 0, c.Count))
		return
	}
	longest := part(0).Len
	room := b.RoundUp(schedule.CodedLen(longest, b.Line()))
	sent, arrived := b.Scratch(p*room), b.Scratch(p*room)
	decoded, total := b.Scratch(longest), b.Scratch(longest)
	contribution, result := b.Slots(p), b.Slots(p)
	form := func(m schedule.Memory, rank, i, n int) schedule.Region {
		return m.At(rank, i*room, schedule.CodedLen(n, b.Line()))
	}
	for k := 1; k < p; k++ {
		peer := mod(me+k, p)
		r := part(peer)
		b.Encode(form(sent, me, peer, r.Len), b.In(me, r.Off, r.Len))
		b.Put(form(arrived, peer, me, r.Len), form(sent, me, peer, r.Len), contribution+me)
	}
	own := part(me)
	for i := range p {
		from := b.In(me, own.Off, own.Len)
		if i != me {
			b.Await(contribution + i)
			from = decoded.At(me, 0, own.Len)
			b.Decode(from, form(arrived, me, i, own.Len))
		}
		if sum := total.At(me, 0, own.Len); i == 0 {
			b.Copy(sum, from)
		} else {
			b.Combine(sum, sum, from)
		}
	}
	done := form(sent, me, me, own.Len)
	b.Encode(done, total.At(me, 0, own.Len))
	for k := 1; k < p; k++ {
		peer := mod(me+k, p)
		b.Put(form(sent, peer, me, own.Len), done, result+me)
	}
	b.Decode(b.Out(me, own.Off, own.Len), done)
	for k := 1; k < p; k++ {
		peer := mod(me-k, p)
		r := part(peer)
		b.Await(result + peer)
		b.Decode(b.Out(me, r.Off, r.Len), form(sent, me, peer, r.Len))
	}
}

// allReduceCodedFormula is the parts to their owners, and the results to all.
func allReduceCodedFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	give := price.Stage{
		Route: s.Everybody(), Peers: p - 1, Elements: n / p, Compressed: true,
		Coded: 2 * n * (p - 1) / p, Codes: 2 * (p - 1),
		Fold: price.Local{Times: p - 1, Elements: n / p, Sources: 2, Scratch: 3},
	}
	back := price.Stage{
		Route: s.Everybody(), Peers: p - 1, Elements: n / p, Compressed: true,
		Coded: n + n/p, Codes: p + 1,
	}
	return price.Profile{Stages: []price.Stage{give, back}, Scratch: 2 * n * (1 + 1/p)}
}
