// Package topology knows on which hosts the ranks of a job are, and plans from that along which
// members of a group news, votes, vectors and the signals of a barrier travel. All ranks of a job
// plan alike, so nobody is asked. It sends nothing.
package topology

import (
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// The location of a rank, as it tells it to all others, is the name of its host and its marks, and may be
// what others need to reach it besides, with FieldEnd between them.
const (
	FieldEnd   = "\t"
	MarkMemory = "m" // the rank shares memory with those of its host
	MarkCores  = "c" // it has a core
)

// Hosts is where the ranks of a job are, alike on all of them. The zero value is one host whose ranks
// share neither memory nor have a core each.
type Hosts struct {
	of     []int32 // index is the rank: number of its host, from 0 in order of the first rank; nil if there is one host
	memory bool    // all ranks share memory with those of their hosts
	cores  bool    // each rank has a core
}

// ReadLocations returns where the ranks of a job of so many are, by the location of each: nil, if
// these were too long for a message, is one host each.
func ReadLocations(size int, locations []string) Hosts {
	if locations == nil {
		h := Hosts{of: make([]int32, size)}
		for r := range h.of {
			h.of[r] = int32(r)
		}
		return h
	}
	h := Hosts{of: make([]int32, size), memory: true, cores: true}
	number := make(map[string]int32)
	for r, location := range locations {
		name, rest, _ := strings.Cut(location, FieldEnd)
		marks, _, _ := strings.Cut(rest, FieldEnd)
		if _, known := number[name]; !known {
			number[name] = int32(len(number))
		}
		h.of[r] = number[name]
		h.memory = h.memory && strings.Contains(marks, MarkMemory)
		h.cores = h.cores && strings.Contains(marks, MarkCores)
	}
	if len(number) == 1 {
		h.of = nil
	}
	return h
}

// On returns the number of the host of rank r.
func (h *Hosts) On(r base.Rank) int32 {
	if h.of == nil {
		return 0
	}
	return h.of[r]
}

// barrierFanout returns how many children a member has in barriers on its host.
func (h *Hosts) barrierFanout() int {
	if h.memory && !h.cores {
		return crowdFanout
	}
	return fanout
}

// meetAtOnce reports whether n members of one host signal each other and use no tree: that
// takes one step in place of two, and n(n-1) signals in place of 2(n-1), which counts where
// ranks share cores, and where each signal is a message.
func (h *Hosts) meetAtOnce(n int) bool {
	switch {
	case h.memory && h.cores:
		return n <= fanout
	case h.memory || h.cores:
		return n <= 4
	}
	return n <= 2
}
