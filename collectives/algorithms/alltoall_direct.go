package algorithms

import "github.com/gaspi-go/gaspi-go/collectives/schedule"

// allToAllDirect is the AlltoAll of the paper on eventually consistent collectives
// (Section IV-B): everybody writes to everybody with a notification. Against incast, a
// rank hands out credits to Radix senders at a time, 8 unless told otherwise, in an
// order in which no two ranks want the same receiver at the same time.
//
// Cost: 1 step after the credits, or P/Radix of them if blocks are large; all blocks
// but its own sent by each rank; no scratch, or the vector in place. A credit also
// says that the result may be overwritten; in place it comes after the copy.
func allToAllDirect(b *schedule.Builder, c *schedule.Call) {
	me, meet := b.Rank(), tournament{c.Size}
	rounds, window := meet.rounds(), radixOr(c, incastWindow)
	credit, data := b.Slots(rounds), b.Slots(rounds)
	from := departures(b, c)
	grant := func(k int) {
		if peer, ok := meet.partner(me, k); ok && k < rounds {
			b.Signal(peer, credit+k)
		}
	}
	take := func(k int) {
		if _, ok := meet.partner(me, k); ok {
			b.Await(data + k)
		}
	}
	for k := range min(window, rounds) {
		grant(k)
	}
	b.Copy(arrival(b, c, me, me), from(me, me))
	for k := range rounds {
		if peer, ok := meet.partner(me, k); ok {
			b.Await(credit + k)
			b.Put(arrival(b, c, peer, me), from(me, peer), data+k)
		}
		if k+1 >= window {
			take(k + 1 - window)
			grant(k + 1)
		}
	}
	for k := max(0, rounds+1-window); k < rounds; k++ {
		take(k)
	}
}
