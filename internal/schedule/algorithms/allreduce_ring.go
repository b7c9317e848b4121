package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allReduceRing is the ring of the paper on eventually consistent collectives
// (Section IV-A, Figs. 4 and 5): the vector is cut into a chunk per rank. In the
// k-th step of the first stage, rank i sends chunk i-k to its right and combines
// chunk i-k-1 from its left; in the second the finished chunks go round.
//
// Cost: 2(P-1) steps, 2n(P-1)/P elements sent, n(P-1)/P combined, and n elements
// of scratch. Credits are not needed: whoever holds a finished chunk knows that all
// ranks have combined it, and has heard of all ranks before it writes into a result.
func allReduceRing(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	right := mod(me+1, p)
	chunk := func(i int) schedule.Range { return schedule.Chunk(c.Count, p, mod(i, p)) }
	if p == 1 {
		b.Copy(b.Out(me, 0, c.Count), b.In(me, 0, c.Count))
		return
	}
	longest := b.RoundUp(chunk(0).Len)
	arrived := b.Scratch((p - 1) * longest)
	slot := b.Slots(2 * (p - 1))
	for k := range p - 1 {
		send, got := chunk(me-k), chunk(me-k-1)
		from := b.Out(me, send.Off, send.Len)
		if k == 0 {
			from = b.In(me, send.Off, send.Len)
		}
		b.Put(arrived.At(right, k*longest, send.Len), from, slot+k)
		b.Await(slot + k)
		b.Combine(b.Out(me, got.Off, got.Len), arrived.At(me, k*longest, got.Len), b.In(me, got.Off, got.Len))
	}
	slot += p - 1
	for k := range p - 1 {
		send := chunk(me - k + 1)
		b.Put(b.Out(right, send.Off, send.Len), b.Out(me, send.Off, send.Len), slot+k)
		b.Await(slot + k)
	}
}

// allReduceRingFormula is two rings of P-1 steps, of which the first folds.
func allReduceRingFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	hop := price.Stage{Times: p - 1, Route: s.Ring(1), Peers: 1, Elements: n / p, Turns: ringTurns(s, (p-1)*2/3)}
	fold := hop
	fold.Fold = price.Local{Elements: n / p, Sources: 2, Scratch: 1}
	return price.Profile{Stages: []price.Stage{fold, hop}, Scratch: n}
}

// ringTurns is how often a rank gives its core away in a step of a ring of so many steps. Where
// messages take no time, those that share cores take steps one behind the other, as many at a
// time as their left has taken, so that they give it away twice in all.
func ringTurns(s *price.Topology, steps float64) float64 {
	if s.Nodes > 1 {
		return 1
	}
	return min(1, 2/steps)
}
