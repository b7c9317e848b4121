package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allToAllFlip lets everybody write to everybody in one round, through memory that
// is free without a credit. For tiny blocks.
//
// Cost: 1 step; all blocks but its own sent by each rank; a copy of the vector; twice
// the vector of scratch, each block on cache lines of its own. Everybody hears of
// everybody in every run, and so writes into memory that was last used in a run that
// its owner has finished. In place, what arrived is copied over what was sent only
// when that has left.
func allToAllFlip(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	cells := cellsOf(b, c)
	hold, data := b.Flip(cells.longest), b.Slots(p)
	for d := 1; d < p; d++ {
		r := mod(me+d, p)
		off, n := c.Sent(me, r)
		deliverApart(b, hold.At(r, cells.at(r)[me], n), b.In(me, off, n), data+me)
	}
	off, n := c.Sent(me, me)
	b.Copy(arrival(b, c, me, me), b.In(me, off, n))
	if c.InPlace {
		b.Flush()
	}
	unpack(b, p, data, func(r int) (to, from schedule.Region) {
		to = arrival(b, c, me, r)
		return to, hold.At(me, cells.at(me)[r], to.Len)
	})
}

// cells are where the blocks of others arrive at each rank, in memory as long as the longest.
type cells struct {
	of      [][]int // one for all ranks, if blocks have one length
	longest int
}

func cellsOf(b *schedule.Builder, c *schedule.Call) cells {
	all := cells{of: make([][]int, 1)}
	if c.Counts != nil {
		all.of = make([][]int, c.Size)
	}
	for r := range all.of {
		all.of[r] = apart(b, received(c, r))
		all.longest = max(all.longest, all.of[r][c.Size])
	}
	return all
}

// at is where blocks begin at a rank.
func (v *cells) at(rank int) []int { return v.of[min(rank, len(v.of)-1)] }

// received are the blocks of a rank's result.
func received(c *schedule.Call, rank int) blocks {
	all := make(blocks, c.Size)
	off := 0
	for i := range all {
		n := c.Count
		if c.Counts != nil {
			n = c.Counts[i*c.Size+rank]
		}
		all[i] = schedule.Range{Off: off, Len: n}
		off += n
	}
	return all
}

// allToAllFlipFormula is the blocks to all and the copies.
func allToAllFlipFormula(s *price.Topology, c *schedule.Call) price.Profile {
	return allGatherFlipFormula(s, c)
}
