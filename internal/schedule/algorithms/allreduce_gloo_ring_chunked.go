package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allReduceGlooRingChunked is Gloo's allreduce_ring_chunked: the vector is cut into
// 2P chunks, two for each place on the ring, and while one is combined the other is
// under way. In the first stage partial folds go round, in the second results.
//
// Cost: 4(P-1) messages, which overlap two by two; 2n(P-1)/P elements sent, n(P-1)/P
// combined; 2n/P elements of scratch, which stay in the cache: a chunk goes into one
// of two inboxes after a credit for the chunk that was there two steps before, which
// has long come. Credits of the first two steps are not needed, nor any for results: a rank
// that holds a finished chunk knows that all ranks have combined it.
func allReduceGlooRingChunked(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	if p == 1 {
		b.Copy(b.Out(me, 0, c.Count), b.In(me, 0, c.Count))
		return
	}
	left, right, steps := mod(me-1, p), mod(me+1, p), p-1
	depth := min(steps, 2)
	stride := b.RoundUp(schedule.Chunk(c.Count, 2*p, 0).Len)
	inbox := b.Scratch(2 * depth * stride)
	data, freed, result := b.Slots(2*steps), b.Slots(2*(steps-depth)), b.Slots(2*steps)
	chunk := func(place, half int) schedule.Range { return schedule.Chunk(c.Count, 2*p, 2*mod(place, p)+half) }
	in := func(rank, k, half, n int) schedule.Region { return inbox.At(rank, (k%depth*2+half)*stride, n) }

	for half := range 2 {
		r := chunk(me, half)
		b.Put(in(right, 0, half, r.Len), b.In(me, r.Off, r.Len), data+half)
	}
	for i := range 2 * steps {
		k, half := i/2, i%2
		r := chunk(me-k-1, half)
		out := b.Out(me, r.Off, r.Len)
		b.Await(data + i)
		b.Combine(out, in(me, k, half, r.Len), b.In(me, r.Off, r.Len))
		if k+depth < steps {
			b.Signal(left, freed+i)
		}
		if k+1 == steps {
			b.Put(b.Out(right, r.Off, r.Len), out, result+half)
			continue
		}
		if k+1 >= depth {
			b.Await(freed + i + 2 - 2*depth)
		}
		b.Put(in(right, k+1, half, r.Len), out, data+i+2)
	}
	for i := range 2 * steps {
		k, half := i/2, i%2
		b.Await(result + i)
		if k+1 < steps {
			r := chunk(me-k, half)
			b.Put(b.Out(right, r.Off, r.Len), b.Out(me, r.Off, r.Len), result+i+2)
		}
	}
}

// allReduceGlooRingChunkedFormula is a ring whose steps have two messages, one of which is under
// way while the other is folded.
func allReduceGlooRingChunkedFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	hop := price.Stage{Times: p - 1, Route: s.Ring(1), Peers: 1, Elements: n / p / 2, Lanes: 2, Turns: ringTurns(s, 2*(p-1))}
	fold := hop
	fold.Fold = price.Local{Elements: n / p / 2, Sources: 2, Scratch: 1}
	if c.Size > 3 {
		fold.Credits, fold.Window = 1, 2
		fold.Turns = max(hop.Turns, 0.25) // it gets two chunks of each half ahead of the next rank, and so do results
		hop.Turns = fold.Turns
	}
	return price.Profile{Stages: []price.Stage{fold, hop}, Scratch: 2 * n / p}
}
