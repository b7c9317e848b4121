package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// members are the ranks that take part in a reduction, in order: those that are
// engaged, and the root.
type members struct {
	ranks []int
	root  int // its place among them
	me    int // the rank's, or -1
	gives []bool
}

func membersOf(c *schedule.Call, rank int) members {
	m := members{me: -1}
	for r := range c.Size {
		gives := c.Engaged == nil || c.Engaged[r]
		if gives || r == c.Root {
			m.ranks = append(m.ranks, r)
			m.gives = append(m.gives, gives)
		}
	}
	m.root = slices.Index(m.ranks, c.Root)
	m.me = slices.Index(m.ranks, rank)
	return m
}

// givers are the ranks that contribute.
func (m members) givers() []int {
	var all []int
	for i, r := range m.ranks {
		if m.gives[i] {
			all = append(all, r)
		}
	}
	return all
}
