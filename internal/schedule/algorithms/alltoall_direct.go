package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// allToAllDirect is the AlltoAll of the paper on eventually consistent collectives
// (Section IV-B): everybody writes to everybody with a notification. Against incast, a
// rank hands out credits to Radix senders at a time, 8 unless told otherwise, in an
// order in which no two ranks want the same receiver at the same time.
//
// Cost: 1 step after the credits, or about one for every Radix/2 ranks if there are
// more than Radix others; all blocks but its own sent by each rank; no scratch, or the
// vector in place. A credit also says that the result may be overwritten; in place it
// comes after the copy.
func allToAllDirect(b *schedule.Builder, c *schedule.Call) {
	me, p, window := b.Rank(), c.Size, radixOr(c, incastWindow)
	credit, data := b.Slots(p), b.Slots(p) // slot of a round: 1 to p-1
	from := departures(b, c)
	grant := func(round int) {
		if _, sender := meets(me, p, round); round < p {
			b.Signal(sender, credit+round)
		}
	}
	for round := 1; round <= window; round++ {
		grant(round)
	}
	b.Copy(arrival(b, c, me, me), from(me, me))

	// Once credits run short, blocks are waited for half a window after those that
	// are sent in the same round. If it were a whole one, the next credit would wait
	// for the last one and every round take the time of a message.
	lag := p - 1
	if lag > window {
		lag = window / 2
	}
	for round := 1; round < p+lag; round++ {
		if peer, _ := meets(me, p, round); round < p {
			b.Await(credit + round)
			b.Put(arrival(b, c, peer, me), from(me, peer), data+round)
		}
		if arrived := round - lag; arrived > 0 {
			b.Await(data + arrived)
			grant(arrived + window)
		}
	}
}
