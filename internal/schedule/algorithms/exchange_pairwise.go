package algorithms

import (
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// exchangePairwise is Gloo's pairwise exchange, the communication of halving and
// doubling with parts of equal length: in round k each rank exchanges the k-th part of
// its vector with the rank whose number differs in bit k, if there is one.
//
// Cost: Rounds steps; n elements sent by a rank that has all partners; no scratch.
// Credits, sent at once, say that results may be overwritten.
func exchangePairwise(b *schedule.Builder, c *schedule.Call) {
	me := b.Rank()
	ready, data := b.Slots(c.Rounds), b.Slots(c.Rounds)
	for k := range c.Rounds {
		if peer, ok := c.Partner(me, k); ok {
			b.Signal(peer, ready+k)
		}
	}
	for k := range c.Rounds {
		if peer, ok := c.Partner(me, k); ok {
			part := schedule.Chunk(c.Count, c.Rounds, k)
			b.Await(ready + k)
			b.Put(b.Out(peer, part.Off, part.Len), b.In(me, part.Off, part.Len), data+k)
			b.Await(data + k)
		}
	}
}

// exchangeFits refuses an exchange in place, whose partners would overwrite what
// they have yet to be sent, and numbers of rounds that no rank has a bit for.
func exchangeFits(c *schedule.Call) error {
	if c.InPlace {
		return errors.New("an exchange is not done in place")
	}
	if c.Rounds > 31 {
		return fmt.Errorf("an exchange has at most 31 rounds, not %d", c.Rounds)
	}
	return nil
}

// exchangePairwiseFormula is the credits and the rounds.
func exchangePairwiseFormula(s *price.Topology, c *schedule.Call) price.Profile {
	rounds := float64(c.Rounds)
	p := price.Profile{Stages: []price.Stage{{Route: s.Group(1, 2, 0), Peers: rounds, From: 1}}}
	for k := range c.Rounds {
		if 1<<k < c.Size {
			p.Stages = append(p.Stages, price.Stage{Route: s.Group(1<<k, 2, 0), Peers: 1, Elements: float64(c.Count) / rounds})
		}
	}
	return p
}

// aheadTurns is how often a rank gives its core away where it hears from the next ranks around the ring, the nearest at
// that distance: they have their turn after it, but for those beyond the last rank. Ranks that have heard from several do not
// get their cores back in the order of the ring, and every second one waits.
func aheadTurns(size, radix, distance int) float64 {
	turns := 1 - float64(distance)/float64(size)
	if radix > 2 {
		turns = max(turns, 0.5)
	}
	return turns
}

// behindTurns is the same where it hears from ranks before it, of a digit of that weight: in the last round they have had
// their turn, but for those beyond the first rank. In others every second one waits, of those of which one comes last.
func behindTurns(size, radix, weight int) float64 {
	digits := digitsOf(size, radix, weight)
	if weight*radix < size {
		return max(1./3, 0.5-0.5/float64(radix))
	}
	return float64((digits-1)*weight) / float64(size)
}
