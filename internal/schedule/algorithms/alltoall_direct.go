package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

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

// allToAllDirectFormula is the first credits, and the blocks. If there are more than the window
// has, half a window of them is under way at a time, and blocks bring the credits that the first were not.
func allToAllDirectFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p, window := float64(c.Count), float64(c.Size), float64(radixOr(c, incastWindow))
	credit := price.Stage{Route: s.Everybody(), Peers: min(window, p-1), From: 1, Copy: price.Local{Elements: n, Sources: 1}}
	if p-1 <= window {
		data := price.Stage{Route: s.Everybody(), Peers: p - 1, Elements: n}
		credit.Only, credit.Turns = price.Leaving, -1
		return departing(c, n, []price.Stage{oneOfAll(s, 0), credit, data})
	}
	lag := max(1, float64(int(window)/2))
	data := oneOfAll(s, n)
	data.Times, data.Lanes, data.Credits, data.Turns = (p-1)/lag, lag, (p-1-window)/(p-1), 1.25/window
	if c.Size&(c.Size-1) == 0 { // whole nodes pair off: of rounds between ranks of a node only some go on beside others
		data.Route.Out = (data.Route.Out + meetings(s, c).Out) / 2
	}
	credit.From, credit.Turns = window, 1/credit.Peers
	return departing(c, n, []price.Stage{credit, data})
}

// oneOfAll is a message of each rank to the mean other.
func oneOfAll(s *price.Topology, n float64) price.Stage {
	route := s.Everybody()
	route.Far = route.Part
	return price.Stage{Route: route, Peers: 1, Elements: n}
}

// departing adds the copy of what is sent, if it would be overwritten.
func departing(c *schedule.Call, n float64, stages []price.Stage) price.Profile {
	if !c.InPlace {
		return price.Profile{Stages: stages}
	}
	all := n * float64(c.Size)
	return price.Profile{Stages: append([]price.Stage{work(price.Local{Elements: all, Sources: 1, Scratch: 1})}, stages...), Scratch: all}
}
