package price

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives/model"
)

// Machine is the parameters of the model.
type Machine = model.Machine

// Link is what a message costs between two ranks.
type Link = model.Link

const (
	largest   = 1e18    // keeps sums of costs finite, as model.Machine does
	mostNodes = 1 << 20 // each takes memory, used or not
)

// nodeOf is the node of each rank.
func nodeOf(m *Machine, size int, nodes []int) ([]int32, int, error) {
	of, count := make([]int32, size), 0
	for r := range of {
		n := r / max(m.RanksPerNode, 1)
		if nodes != nil {
			n = nodes[r]
		}
		if n < 0 || n >= mostNodes {
			return nil, 0, fmt.Errorf("price: rank %d is on node %d; nodes are numbered from 0 and are fewer than %d", r, n, mostNodes)
		}
		of[r], count = int32(n), max(count, n+1)
	}
	return of, count, nil
}

// A Load is how a call meets the machine. Its slices are borrowed for the call.
type Load struct {
	// Element is the bytes of an element; 0 means 1.
	Element int
	// Runs is how often the plan is run, each rank beginning a run when it has
	// ended the one before; 0 means once.
	Runs int
	// Arrival is when each rank begins, in seconds; nil means all at 0.
	Arrival []float64
	// Slowdown multiplies the CPU time of each rank: 2 is half as fast. Nil means 1.
	Slowdown []float64
	// Hosts is the host of each rank, on which it shares cores and memory with the
	// others of it; nil means that a node is a host. It differs where ranks of one host
	// meet in sockets all the same.
	Hosts []int
	// InSegments says that the vectors of ranks lie in segments, so that puts take from there what
	// a lane would only copy for them.
	InSegments bool
}

// Check returns why a call of size ranks cannot meet the machine so, or nil.
func (l *Load) Check(size int) error {
	if l.Element < 0 || l.Runs < 0 {
		return fmt.Errorf("price: a load of elements of %d bytes and %d runs", l.Element, l.Runs)
	}
	if l.Arrival != nil && len(l.Arrival) != size || l.Slowdown != nil && len(l.Slowdown) != size {
		return fmt.Errorf("price: %d arrivals and %d slowdowns for %d ranks", len(l.Arrival), len(l.Slowdown), size)
	}
	if l.Hosts != nil && len(l.Hosts) != size {
		return fmt.Errorf("price: hosts of %d ranks, of %d", len(l.Hosts), size)
	}
	for _, all := range [][]float64{l.Arrival, l.Slowdown} {
		for r, v := range all {
			if !(v >= 0 && v <= largest) {
				return fmt.Errorf("price: rank %d has arrival or slowdown %v; it is a number from 0 to %v", r, v, largest)
			}
		}
	}
	return nil
}
