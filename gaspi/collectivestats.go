package gaspi

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/tally"
)

// CollectiveStats are counts of the calls of one collective operation that one algorithm did, since this
// rank joined. They only grow.
type CollectiveStats struct {
	Operation string // such as "allreduce"; the calls of this package have its name before theirs
	Algorithm string // such as "ring x4"
	Calls     uint64 // ended without an error; of this package, begun or resumed
	Bytes     uint64 // of this rank's longest vector in each call
	// Time is that from the calls until they have ended; of this package, that waited in them. Of small
	// calls it is estimated from 1 in 16 of them.
	Time time.Duration
}

// CollectiveStats returns the counts of all collective operations of this rank, in the order of their
// names.
func (p *Proc) CollectiveStats() []CollectiveStats {
	c := &p.stats
	var all []CollectiveStats
	if n := c.barriers.Load(); n > 0 {
		all = append(all, CollectiveStats{Operation: "gaspi.Barrier", Algorithm: "tree", Calls: n, Time: time.Duration(c.barrierWait.Load())})
	}
	if n, bytes := c.allReduces.Read(); n > 0 {
		all = append(all, CollectiveStats{Operation: "gaspi.AllReduce", Algorithm: "tree", Calls: n, Bytes: bytes, Time: time.Duration(c.allReduceWait.Load())})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, n := range c.collectives {
		calls, bytes := n.calls.Read()
		if calls > 0 {
			all = append(all, CollectiveStats{Operation: name.operation, Algorithm: name.algorithm, Calls: calls, Bytes: bytes, Time: time.Duration(n.nanos.Load())})
		}
	}
	slices.SortFunc(all, func(a, b CollectiveStats) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Algorithm, b.Algorithm))
	})
	return all
}

// A collectiveName is what a CollectiveCounter counts.
type collectiveName struct{ operation, algorithm string }

// A CollectiveCounter counts the calls of a collective operation by an algorithm, for
// Proc.CollectiveStats. A library on top of this package counts its operations by it. It is safe for
// concurrent use.
type CollectiveCounter struct {
	calls tally.Tally
	nanos atomic.Int64
}

// CollectiveCounter returns the counter of an operation, such as "allreduce", and an algorithm, such as
// "ring x4": the same one for the same names.
func (p *Proc) CollectiveCounter(operation, algorithm string) *CollectiveCounter {
	p.stats.mu.Lock()
	defer p.stats.mu.Unlock()
	name := collectiveName{operation, algorithm}
	if p.stats.collectives == nil {
		p.stats.collectives = map[collectiveName]*CollectiveCounter{}
	}
	if p.stats.collectives[name] == nil {
		p.stats.collectives[name] = &CollectiveCounter{}
	}
	return p.stats.collectives[name]
}

// Count counts a call with the bytes of this rank's longest vector. It does not block.
func (c *CollectiveCounter) Count(bytes uint64) { c.calls.Add(bytes) }

// AddTime adds to the time of the calls. It does not block.
func (c *CollectiveCounter) AddTime(d time.Duration) { c.nanos.Add(int64(d)) }
