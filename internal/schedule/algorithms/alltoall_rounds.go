package algorithms

import (
	"errors"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// meets are whom a rank sends to and whom it receives from in round 1 to p-1 of an
// exchange in which every round is a permutation and all others are met once. Of a
// power of two the two are the same, so that ranks pair off.
func meets(rank, p, round int) (to, from int) {
	if p&(p-1) == 0 {
		return rank ^ round, rank ^ round
	}
	return mod(rank+round, p), mod(rank-round, p)
}

// meetings is the route of the rounds in which ranks meet.
func meetings(s *price.Topology, c *schedule.Call) price.Route {
	return s.Rounds(c.Size-1, func(rank, round int) int { to, _ := meets(rank, c.Size, round); return to })
}

// departures is where the blocks are from which a rank sends. In place they would be
// overwritten by what arrives, so that they are copied to scratch first.
func departures(b *schedule.Builder, c *schedule.Call) func(from, to int) schedule.Region {
	if !c.InPlace {
		return func(from, to int) schedule.Region {
			off, n := c.Sent(from, to)
			return b.In(from, off, n)
		}
	}
	longest := 0
	for r := range c.Size {
		longest = max(longest, c.InLen(r))
	}
	copied, me := b.Scratch(longest), b.Rank()
	b.Copy(copied.At(me, 0, c.InLen(me)), b.In(me, 0, c.InLen(me)))
	return func(from, to int) schedule.Region {
		off, n := c.Sent(from, to)
		return copied.At(from, off, n)
	}
}

// arrival is where a rank's result has the block of another.
func arrival(b *schedule.Builder, c *schedule.Call, to, from int) schedule.Region {
	off, n := c.Received(to, from)
	return b.Out(to, off, n)
}

// bothWays is the rule of MPI that what is exchanged in place has the same length in
// both directions: a block takes the place of that which it is exchanged for.
func bothWays(c *schedule.Call) error {
	if !c.InPlace || c.Counts == nil {
		return nil
	}
	for i := range c.Size {
		for j := range i {
			if c.Counts[i*c.Size+j] != c.Counts[j*c.Size+i] {
				return errors.New("an alltoall in place needs blocks that are as long in both directions")
			}
		}
	}
	return nil
}
