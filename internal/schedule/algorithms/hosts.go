package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// hosts are the ranks of each host, in order, and a rank's place among them.
type hosts struct {
	ranks [][]int
	host  int // the rank's
	place int // among the ranks of its host
	most  int // ranks of a host
	even  bool
}

// hostsOf are the hosts of a call, in the order of their first ranks. If nobody knows
// them, all ranks are on one.
func hostsOf(c *schedule.Call, rank int) hosts {
	var h hosts
	index := make(map[int]int)
	for r := range c.Size {
		name := 0
		if c.Nodes != nil {
			name = c.Nodes[r]
		}
		i, ok := index[name]
		if !ok {
			i = len(h.ranks)
			index[name] = i
			h.ranks = append(h.ranks, nil)
		}
		if r == rank {
			h.host, h.place = i, len(h.ranks[i])
		}
		h.ranks[i] = append(h.ranks[i], r)
	}
	h.even = true
	for _, ranks := range h.ranks {
		h.most = max(h.most, len(ranks))
		h.even = h.even && len(ranks) == len(h.ranks[0])
	}
	return h
}

// piece is what the rank at a place of a host has of chunk i of n elements, of which
// there is one for each host.
func (h *hosts) piece(n, i, host, place int) schedule.Range {
	chunk := schedule.Chunk(n, len(h.ranks), mod(i, len(h.ranks)))
	r := schedule.Chunk(chunk.Len, len(h.ranks[host]), place)
	r.Off += chunk.Off
	return r
}

// overlap is what two ranges have in common.
func overlap(r, s schedule.Range) schedule.Range {
	off := max(r.Off, s.Off)
	return schedule.Range{Off: off, Len: max(0, min(r.Off+r.Len, s.Off+s.Len)-off)}
}
