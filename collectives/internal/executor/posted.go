package executor

import (
	"math/bits"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// This file counts what a schedule posts, in time that grows with its steps alone.

// A postCount is how many posts a run makes of a slot at a peer, and how many of them have been
// compiled.
type postCount struct {
	peer, slot int32
	all, done  uint32 // all is 0 where there is none
}

// postCounts are the counts of posts by peer and slot: a table with open addresses, at least half of
// which is free.
type postCounts struct {
	table []postCount
	shift int
}

// prepare makes room for the counts of so many posts.
func (c *postCounts) prepare(posts int) {
	width := bits.Len(uint(2 * posts))
	c.shift = 64 - width
	if cap(c.table) < 1<<width {
		c.table = make([]postCount, 1<<width)
	}
	c.table = c.table[:1<<width]
	clear(c.table)
}

// spreader is 2 to the 64 by the golden ratio, which spreads keys that follow each other over a table.
const spreader = 0x9e3779b97f4a7c15

// of returns the count of what a step posts. Its first caller adds to all.
func (c *postCounts) of(s *schedule.Step) *postCount {
	all := c.table
	key := uint64(uint32(s.Peer))<<32 | uint64(uint32(s.Slot))
	for at := key * spreader >> c.shift; ; at++ {
		n := &all[at&uint64(len(all)-1)]
		if n.all == 0 {
			n.peer, n.slot = s.Peer, s.Slot
			return n
		}
		if n.peer == s.Peer && n.slot == s.Slot {
			return n
		}
	}
}
