// Package fusion makes few reductions of many vectors, as tensor fusion of Horovod and the buckets of
// DistributedDataParallel do: vectors that all members have added become one operation.
//
// It says which vectors and when, and knows neither teams nor elements. Package collectives calls it,
// and begins the operations.
package fusion

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// mostFused is how many operations of a buffer are under way; each may hold a copy of its vectors.
const mostFused = 2

// A Bound holds the limits of a buffer, the same on all members.
type Bound struct {
	Bytes int           // of vectors that become one operation at most; a longer one is one by itself
	Delay time.Duration // how long a vector waits for others; negative means not at all
}

// A Reducer begins reductions over the members. One goroutine calls it.
type Reducer[T any] interface {
	// Start begins to reduce buf in place.
	Start(buf []T) (Started, error)
	// StartMin begins to store the least values of all members in said.
	StartMin(said []uint64) (Started, error)
}

// A Started is an operation that goes on by itself.
type Started interface {
	// Done returns a channel that is closed when the operation has ended.
	Done() <-chan struct{}
	// Wait returns the error of the operation when it has ended.
	Wait(context.Context) error
}

// A Buffer holds the vectors of a member that are to be reduced. All members add vectors of the same
// lengths in the same order. They agree on how many vectors become operations in a small reduction,
// which a member begins when the vectors that it has added reach the limit, have waited for the time,
// or are waited for.
//
// All that is done in a goroutine, which exists while vectors are under way.
type Buffer[T any] struct {
	bound   Bound
	reducer Reducer[T]

	wake chan struct{} // of one: there is news for the goroutine

	mu      sync.Mutex
	waiting []*Vector[T]  // guarded by mu: in the order of Add, in no operation yet
	bytes   int           // guarded by mu: of these
	last    *Vector[T]    // guarded by mu: that was added
	added   uint64        // guarded by mu: ever
	urgent  uint64        // guarded by mu: so many of all are not to wait for others
	serving chan struct{} // guarded by mu: closed when the goroutine has ended; nil before the first
	idle    bool          // guarded by mu: there is no goroutine
	err     error         // guarded by mu: why no vector can be reduced any more

	// Of the goroutine.
	fused  []fusedOperation[T] // under way, in the order of their start
	stages [][]T               // copies that are not in use
	said   [2]uint64           // in a negotiation
}

// A Vector is one of a buffer, from Add until it is reduced.
type Vector[T any] struct {
	buffer *Buffer[T]
	buf    []T
	number uint64 // among those of the buffer, from 0
	since  time.Time
	done   chan struct{}
	err    error // once done is closed
}

// New returns an empty buffer.
func New[T any](bound Bound, reducer Reducer[T]) *Buffer[T] {
	return &Buffer[T]{bound: bound, reducer: reducer, wake: make(chan struct{}, 1), idle: true}
}

// Add gives a vector to the buffer, v, which stands for buf. It does not block. Its error is that of an
// earlier operation or of Close.
func (b *Buffer[T]) Add(v *Vector[T], buf []T) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return b.err
	}
	*v = Vector[T]{buffer: b, buf: buf, number: b.added, since: time.Now(), done: make(chan struct{})}
	b.last = v
	b.added++
	b.bytes += len(reduce.BytesOf(buf))
	b.waiting = append(b.waiting, v)
	if len(b.waiting) == 1 || b.bytes >= b.bound.Bytes {
		b.signal()
	}
	return nil
}

// Flush makes vectors that were added wait for others no longer. It does not block.
func (b *Buffer[T]) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expedite(b.added)
}

// expedite is Flush of the first n of all vectors. The caller holds mu.
func (b *Buffer[T]) expedite(n uint64) {
	if n > b.urgent {
		b.urgent = n
		if len(b.waiting) > 0 {
			b.signal()
		}
	}
}

// signal makes the goroutine look. The caller holds mu.
func (b *Buffer[T]) signal() {
	if b.idle {
		b.idle, b.serving = false, make(chan struct{})
		go b.serve()
		return
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Last returns the vector that was added last, nil if there is none, or why none can be reduced.
func (b *Buffer[T]) Last() (*Vector[T], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last, b.err
}

// Join blocks until the goroutine has ended. No vector is under way.
func (b *Buffer[T]) Join() {
	b.mu.Lock()
	ended := b.serving
	b.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// Close makes Add and Last return err, unless an operation had an error.
func (b *Buffer[T]) Close(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = cmp.Or(b.err, err)
}

// Done returns a channel that is closed when the vector is reduced, or cannot be.
func (v *Vector[T]) Done() <-chan struct{} { return v.done }

// Err returns why the vector could not be reduced. Done is closed.
func (v *Vector[T]) Err() error { return v.err }

// Wait blocks until the vector is reduced, or cannot be, and reports whether that came before the end of
// ctx. The vector and those before it wait for others no longer. When ctx ends first, the reduction goes
// on, and so does Wait when called again.
func (v *Vector[T]) Wait(ctx context.Context) bool {
	select {
	case <-v.done:
		return true
	default:
	}
	b := v.buffer
	b.mu.Lock()
	b.expedite(v.number + 1)
	b.mu.Unlock()
	select {
	case <-v.done:
		return true
	case <-ctx.Done():
		return false
	}
}
