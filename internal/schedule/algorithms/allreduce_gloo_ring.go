package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// ringInbox is how many messages may be under way from a rank to its right. With
// three, a credit has the time of two messages to come back before it is needed:
// one for the flush of what was passed on, one for its own way.
const ringInbox = 3

// allReduceGlooRing is Gloo's allreduce_ring: whole vectors go round the ring, and
// each rank folds all that passes. Ranks fold in different orders, so the results
// of sums that are rounded may differ from rank to rank.
//
// Cost: P-1 steps, n(P-1) elements sent and as many combined; 6n elements of scratch.
// A message goes into one of three inboxes, after a credit for the message that was
// there; those for the first three are not needed, since each rank has heard of its
// right by the end of every run and inboxes are in Flip. The credits are not on the
// critical path.
func allReduceGlooRing(b *schedule.Builder, c *schedule.Call) {
	me, p, n := b.Rank(), c.Size, c.Count
	r := claimRing(b, p, n)
	r.left, r.right = mod(me-1, p), mod(me+1, p)
	out, own := b.Out(me, 0, n), b.In(me, 0, n)
	if p == 1 {
		b.Copy(out, own)
		return
	}
	r.send(0, own)
	for k := range p - 1 {
		got := r.receive(k, n)
		if k < p-2 {
			r.send(k+1, got)
		}
		if k == 0 && c.InPlace {
			b.Flush()
		}
		b.Combine(out, own, got)
		own = out
		r.free(k, k < p-2)
	}
}

// A ring hands messages to the right, through inboxes that are free again when the
// right has said so.
type ring struct {
	b           *schedule.Builder
	left, right int
	messages    int // that each rank sends
	inbox       schedule.Memory
	depth       int // inboxes
	stride      int
	data, freed int // slots of the first message
}

// claimRing is a ring of so many ranks that each send all but one of them messages
// of up to longest elements.
func claimRing(b *schedule.Builder, ranks, longest int) *ring {
	r := &ring{b: b, messages: max(ranks-1, 0), stride: b.RoundUp(longest)}
	r.depth = min(r.messages, ringInbox)
	r.inbox = b.Flip(r.depth * r.stride)
	r.data, r.freed = b.Slots(r.messages), b.Slots(r.messages-r.depth)
	return r
}

// send sends message k.
func (r *ring) send(k int, src schedule.Region) {
	if k >= r.depth {
		r.b.Await(r.freed + k - r.depth)
	}
	deliver(r.b, r.inbox.At(r.right, k%r.depth*r.stride, src.Len), src, r.data+k)
}

// receive awaits message k, of n elements, and returns where it is.
func (r *ring) receive(k, n int) schedule.Region {
	r.b.Await(r.data + k)
	return r.inbox.At(r.b.Rank(), k%r.depth*r.stride, n)
}

// free gives the inbox of message k back, which has been read; and also sent from,
// if it was passed on.
func (r *ring) free(k int, passed bool) {
	if k+r.depth >= r.messages {
		return
	}
	if passed {
		r.b.Flush()
	}
	r.b.Signal(r.left, r.freed+k)
}

// allReduceGlooRingFormula is the steps of the ring, with whole vectors.
func allReduceGlooRingFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	return price.Profile{Stages: []price.Stage{ringFold(s, float64(c.Size), n)}, Flip: ringInbox * n}
}
