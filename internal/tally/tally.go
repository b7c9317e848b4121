// Package tally counts operations and their bytes with one atomic addition.
//
// It knows neither what is counted nor who reads it. Package gaspi counts by it what a rank does with
// each peer.
package tally

import (
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
)

// A Tally is a number of operations and the sum of their bytes. Both only grow. The zero Tally is ready.
// It is safe for concurrent use.
type Tally struct {
	// recent is what has been counted since the last spill:
	//
	//	| operations: 24 bits | bytes: 40 bits |
	//
	// An addition that sets the highest bit of one of the two spills it, so that neither overflows.
	recent atomic.Uint64

	mu    sync.Mutex
	count uint64 // guarded by mu; of operations, without the recent ones
	bytes uint64 // guarded by mu; likewise
}

const (
	byteBits = 40
	oneMore  = 1 << byteBits
	byteMask = oneMore - 1
	full     = 1<<63 | 1<<(byteBits-1)

	// large is the size from which an operation does not go into recent: 128 goroutines at a time
	// may add a smaller one between an addition and its spill without an overflow.
	large = 1 << 32
)

// Add counts an operation of some bytes. It does not block, but for the lock of a spill, one in a million
// operations or so. It is a full memory barrier: each way has an atomic read-modify-write.
func (t *Tally) Add(bytes uint64) {
	if bytes >= large || t.recent.Add(oneMore|bytes)&full != 0 {
		t.spillAfter(bytes)
	}
}

// spillAfter is the end of an Add that spills, apart so that Add is inlined.
func (t *Tally) spillAfter(bytes uint64) {
	if bytes >= large {
		t.spill(1, bytes)
	} else {
		t.spill(0, 0)
	}
}

// AddSerialized is Add while nobody else adds. It is a release, and no barrier.
func (t *Tally) AddSerialized(bytes uint64) {
	sum := t.recent.Load() + (oneMore | bytes)
	if bytes >= large || sum&full != 0 {
		t.spill(1, bytes)
		return
	}
	cpu.StoreRelease64(&t.recent, sum)
}

// Merge counts operations and their bytes that were counted elsewhere.
func (t *Tally) Merge(count, bytes uint64) { t.spill(count, bytes) }

// spill moves what is recent to the words that do not overflow, and adds to these.
func (t *Tally) spill(count, bytes uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	recent := t.recent.Swap(0)
	t.count += count + recent>>byteBits
	t.bytes += bytes + recent&byteMask
}

// Read returns how many operations were counted, and their bytes.
func (t *Tally) Read() (count, bytes uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	recent := t.recent.Load()
	return t.count + recent>>byteBits, t.bytes + recent&byteMask
}
