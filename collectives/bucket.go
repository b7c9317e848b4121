package collectives

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// A BucketConfig holds the limits of a bucket, the same on all members. The zero value of a field
// means its default.
type BucketConfig struct {
	// Size is how many bytes of vectors become one operation at most; a longer vector is one by
	// itself. Default 16 MiB.
	Size int
	// Delay is how long a vector waits at its member for others to go with it. Default 1 ms; negative
	// means not at all.
	Delay time.Duration
}

const (
	defaultBucketSize  = 16 << 20
	defaultBucketDelay = time.Millisecond
	mostFused          = 2 // operations of a bucket that are under way; each may hold a copy of its vectors
)

// A Bucket makes few allreduces of many vectors, as tensor fusion of Horovod and the buckets of
// DistributedDataParallel do. All members add vectors of the same lengths in the same order. Vectors
// that all members have added become one operation, up to a size; they wait for each other up to a
// time. The members agree on how many vectors become operations in a small reduction, which a member
// begins when the vectors that it has added reach the size, have waited for the time, or are waited for.
//
// All that is done in a goroutine, which exists while vectors are under way, over a team of the
// bucket's own. Several goroutines may use a bucket, whose calls of Add have one order on all members.
type Bucket[T Element] struct {
	team *Team // of the same members, for the goroutine alone, and Close
	cfg  BucketConfig
	op   Op
	opts []Option

	wake chan struct{} // of one: there is news for the goroutine

	mu      sync.Mutex
	waiting []*BucketEntry[T] // guarded by mu: in the order of Add, in no operation yet
	bytes   int               // guarded by mu: of these
	last    *BucketEntry[T]   // guarded by mu: that was added
	added   uint64            // guarded by mu: ever
	urgent  uint64            // guarded by mu: so many of all are not to wait for others
	serving chan struct{}     // guarded by mu: closed when the goroutine has ended; nil before the first
	idle    bool              // guarded by mu: there is no goroutine
	err     error             // guarded by mu: why no vector can be reduced any more

	// Of the goroutine.
	begun  int                 // operations so far
	fused  []fusedOperation[T] // under way, in the order of their start
	stages [][]T               // copies that are not in use
	said   [2]uint64           // in a negotiation
}

// A BucketEntry is a vector of a bucket. It belongs to the bucket until Wait or Done has said that it is
// reduced.
type BucketEntry[T Element] struct {
	bucket *Bucket[T]
	buf    []T
	number uint64 // among those of the bucket, from 0
	since  time.Time
	done   chan struct{}
	err    error // once done is closed
}

// A fusedOperation is an operation of a bucket that is under way.
type fusedOperation[T Element] struct {
	handle  *Handle
	entries []*BucketEntry[T]
	stage   []T // a copy of the vectors, nil if they are reduced in place
}

// NewBucket makes a bucket whose vectors are reduced by op. It is collective over the members of t,
// with the same arguments, and blocks; its errors, and its effect on t when ctx ends first, are those
// of Split. The bucket has the configuration of t, but for Progress, and is revoked with the teams that
// are split from t. Vectors that lie in an Alloc of t made before are reduced in place where they
// lie one behind the other or are one by itself. As in other calls, all members add vectors at the
// same places of it, or all add plain slices.
func NewBucket[T Element](ctx context.Context, t *Team, op Op, cfg BucketConfig, opts ...Option) (*Bucket[T], error) {
	task := AllReduceTask[T](nil, op, opts...)
	switch {
	case cfg.Size < 0:
		task.err = fmt.Errorf("%w: the size of a bucket is %d bytes", gaspi.ErrOutOfRange, cfg.Size)
	case task.err == nil:
		if _, task.err = task.elem.kernel(op); task.err == nil && op == Average {
			task.err = task.checkAverage()
		}
	}
	if task.err != nil {
		return nil, teamError("bucket", task.err)
	}
	if cfg.Size == 0 {
		cfg.Size = defaultBucketSize
	}
	if cfg.Delay == 0 {
		cfg.Delay = defaultBucketDelay
	}
	own, err := t.Split(ctx, 0, t.Rank())
	if err != nil {
		return nil, err
	}
	own.cfg.Progress = Background
	for _, a := range t.heap {
		own.heap = append(own.heap, allocation{seg: a.seg, bytes: a.bytes})
	}
	b := &Bucket[T]{team: own, cfg: cfg, op: op, opts: opts, wake: make(chan struct{}, 1), idle: true}
	return b, nil
}

// Add gives a vector to the bucket, which stores the result of the reduction in it. It does not
// block. Its error is that of an earlier operation, after which the bucket can only be closed.
func (b *Bucket[T]) Add(buf []T) (*BucketEntry[T], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil, b.err
	}
	e := &BucketEntry[T]{bucket: b, buf: buf, number: b.added, since: time.Now(), done: make(chan struct{})}
	b.last = e
	b.added++
	b.bytes += len(reduce.BytesOf(buf))
	b.waiting = append(b.waiting, e)
	if len(b.waiting) == 1 || b.bytes >= b.cfg.Size {
		b.signal()
	}
	return e, nil
}

// Flush makes vectors that were added wait for others no longer. It does not block.
func (b *Bucket[T]) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expedite(b.added)
}

// expedite is Flush of the first n of all vectors. The caller holds mu.
func (b *Bucket[T]) expedite(n uint64) {
	if n > b.urgent {
		b.urgent = n
		if len(b.waiting) > 0 {
			b.signal()
		}
	}
}

// signal makes the goroutine look. The caller holds mu.
func (b *Bucket[T]) signal() {
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

// Done returns a channel that is closed when the vector is reduced, or cannot be.
func (e *BucketEntry[T]) Done() <-chan struct{} { return e.done }

// Wait blocks until the vector is reduced, and returns why it could not be. The vector and those
// before it wait for others no longer. When ctx ends first, the reduction goes on, and so does Wait
// when called again.
func (e *BucketEntry[T]) Wait(ctx context.Context) error {
	select {
	case <-e.done:
		return e.err
	default:
	}
	b := e.bucket
	b.mu.Lock()
	b.expedite(e.number + 1)
	b.mu.Unlock()
	select {
	case <-e.done:
		return e.err
	case <-ctx.Done():
		return teamError("bucket", ctx.Err())
	}
}

// Wait blocks until all vectors are reduced that were added before, and returns why one could not be.
// They wait for others no longer. When ctx ends first, the same call goes on.
func (b *Bucket[T]) Wait(ctx context.Context) error {
	b.mu.Lock()
	last, err := b.last, b.err
	b.mu.Unlock()
	if last == nil || err != nil {
		return err
	}
	return last.Wait(ctx) // they end in their order
}

// Close waits for all vectors and gives the memory of the bucket back. It is collective and blocks
// until all members have called it. When ctx ends first, the same call goes on. After the error of an
// operation Close waits for nobody.
func (b *Bucket[T]) Close(ctx context.Context) error {
	err := b.Wait(ctx)
	if ctxErr(err) {
		return err
	}
	b.mu.Lock()
	ended := b.serving
	b.mu.Unlock()
	if ended != nil {
		<-ended // as nothing is under way
	}
	if err == nil {
		if err = Barrier(ctx, b.team); ctxErr(err) {
			return err
		}
	}
	b.mu.Lock()
	b.err = cmp.Or(b.err, teamError("bucket", gaspi.ErrClosed))
	b.mu.Unlock()
	return errors.Join(err, b.team.Close())
}
