package algorithms

import "github.com/gaspi-go/gaspi-go/collectives/schedule"

// allToAllPairwise exchanges blocks with one partner after the other, so that every
// rank sends to one and receives from one at a time. For large blocks.
//
// Cost: P-1 steps, P if that is odd; all blocks but its own sent by each rank; no
// scratch, or the vector in place. Credits, sent at once, say that results may be
// overwritten; in place they come after the copy.
func allToAllPairwise(b *schedule.Builder, c *schedule.Call) {
	me, meet := b.Rank(), tournament{c.Size}
	rounds := meet.rounds()
	ready, data := b.Slots(rounds), b.Slots(rounds)
	from := departures(b, c)
	for k := range rounds {
		if peer, ok := meet.partner(me, k); ok {
			b.Signal(peer, ready+k)
		}
	}
	b.Copy(arrival(b, c, me, me), from(me, me))
	for k := range rounds {
		if peer, ok := meet.partner(me, k); ok {
			b.Await(ready + k)
			b.Put(arrival(b, c, peer, me), from(me, peer), data+k)
			b.Await(data + k)
		}
	}
}
