package gaspi

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// CollectiveStats are counts of the calls of one collective operation that one algorithm did, since this
// rank joined. They only grow.
type CollectiveStats struct {
	Operation string // such as "allreduce"; the calls of this package have its name before theirs
	Algorithm string // such as "ring x4"
	Calls     uint64 // ended without an error; of this package, begun or resumed
	Bytes     uint64 // of this rank's longest vector in each call
	// Time is that from the calls until they have ended; of this package, that waited in them. Of small
	// calls it is estimated from 1 in 64 of them.
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
	for name, sum := range c.collectives {
		if s := sum.read(); s.Calls > 0 {
			s.Operation, s.Algorithm = name.operation, name.algorithm
			all = append(all, s)
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
// Proc.CollectiveStats. A library on top of this package counts its operations by it. Count, AddTime and
// Close are for one goroutine at a time: a count is a plain addition, which costs no barrier.
type CollectiveCounter struct {
	calls, bytes, nanos atomic.Uint64 // stored by the goroutine that counts, loaded by any
	proc                *Proc
	sum                 *collectiveSum
}

// A collectiveSum is what all counters of a name have counted. It is guarded by stats.mu.
type collectiveSum struct {
	closed CollectiveStats // of counters that were closed
	open   []*CollectiveCounter
}

// read returns the sum, without its name.
func (s *collectiveSum) read() CollectiveStats {
	all := s.closed
	for _, c := range s.open {
		all.Calls += c.calls.Load()
		all.Bytes += c.bytes.Load()
		all.Time += time.Duration(c.nanos.Load())
	}
	return all
}

// CollectiveCounter returns a new counter of an operation, such as "allreduce", and an algorithm, such as
// "ring x4". CollectiveStats adds those of the same names. Close returns its memory.
func (p *Proc) CollectiveCounter(operation, algorithm string) *CollectiveCounter {
	p.stats.mu.Lock()
	defer p.stats.mu.Unlock()
	name := collectiveName{operation, algorithm}
	if p.stats.collectives == nil {
		p.stats.collectives = map[collectiveName]*collectiveSum{}
	}
	sum := p.stats.collectives[name]
	if sum == nil {
		sum = &collectiveSum{}
		p.stats.collectives[name] = sum
	}
	c := &CollectiveCounter{proc: p, sum: sum}
	sum.open = append(sum.open, c)
	return c
}

// Count counts a call with the bytes of this rank's longest vector. It does not block.
func (c *CollectiveCounter) Count(bytes uint64) {
	sys.StoreRelease64(&c.calls, c.calls.Load()+1)
	sys.StoreRelease64(&c.bytes, c.bytes.Load()+bytes)
}

// AddTime adds to the time of the calls. It does not block.
func (c *CollectiveCounter) AddTime(d time.Duration) {
	sys.StoreRelease64(&c.nanos, c.nanos.Load()+uint64(d))
}

// Close ends the counter. CollectiveStats keeps what it has counted. It does not block.
func (c *CollectiveCounter) Close() {
	c.proc.stats.mu.Lock()
	defer c.proc.stats.mu.Unlock()
	i := slices.Index(c.sum.open, c)
	if i < 0 {
		return
	}
	only := collectiveSum{closed: c.sum.closed, open: []*CollectiveCounter{c}}
	c.sum.closed = only.read()
	c.sum.open = slices.Delete(c.sum.open, i, i+1)
}
