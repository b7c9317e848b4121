package gaspi

import (
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/wireup"
)

// hosts is where the ranks of the job are, alike on all of them: each tells it when it joins.
type hosts struct {
	of     []int32 // index is the rank: number of its host, from 0 in order of the first rank; nil if there is one host
	memory bool    // all ranks share memory with those of their hosts
	cores  bool    // each rank has a core
}

// readLocations returns what ranks have told: nil, if it was too long for a message, is one host each.
func readLocations(size int, locations []string) hosts {
	if locations == nil {
		h := hosts{of: make([]int32, size)}
		for r := range h.of {
			h.of[r] = int32(r)
		}
		return h
	}
	h := hosts{of: make([]int32, size), memory: true, cores: true}
	number := make(map[string]int32)
	for r, location := range locations {
		name, marks, _ := strings.Cut(location, wireup.HostEnd)
		if _, known := number[name]; !known {
			number[name] = int32(len(number))
		}
		h.of[r] = number[name]
		h.memory = h.memory && strings.Contains(marks, wireup.MarkMemory)
		h.cores = h.cores && strings.Contains(marks, wireup.MarkCores)
	}
	if len(number) == 1 {
		h.of = nil
	}
	return h
}

// on is the number of the host of rank r.
func (h *hosts) on(r Rank) int32 {
	if h.of == nil {
		return 0
	}
	return h.of[r]
}
