package collectives

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives/internal/fusion"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
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
	team   *Team // of the same members, for the goroutine of the buffer alone, and Close
	op     Op
	opts   []Option
	buffer *fusion.Buffer[T]
	begun  int // operations so far; of the goroutine
}

// A BucketEntry is a vector of a bucket. It belongs to the bucket until Wait or Done has said that it is
// reduced.
type BucketEntry[T Element] struct{ vector fusion.Vector[T] }

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
		task.err = task.combinable()
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
	own.heap = t.heap.Shared()
	b := &Bucket[T]{team: own, op: op, opts: opts}
	b.buffer = fusion.New(fusion.Bound{Bytes: cfg.Size, Delay: cfg.Delay}, fusion.Reducer[T](bucketReducer[T]{b}))
	return b, nil
}

// A bucketReducer begins the operations of a bucket.
type bucketReducer[T Element] struct{ b *Bucket[T] }

// Start implements fusion.Reducer.
func (r bucketReducer[T]) Start(buf []T) (fusion.Started, error) {
	r.b.begun++
	return Start(context.Background(), r.b.team, AllReduceTask(buf, r.b.op, r.b.opts...))
}

// StartMin implements fusion.Reducer.
func (r bucketReducer[T]) StartMin(said []uint64) (fusion.Started, error) {
	return Start(context.Background(), r.b.team, AllReduceTask(said, Min))
}

// Add gives a vector to the bucket, which stores the result of the reduction in it. It does not
// block. Its error is that of an earlier operation, after which the bucket can only be closed.
func (b *Bucket[T]) Add(buf []T) (*BucketEntry[T], error) {
	e := new(BucketEntry[T])
	if err := b.buffer.Add(&e.vector, buf); err != nil {
		return nil, err
	}
	return e, nil
}

// Flush makes vectors that were added wait for others no longer. It does not block.
func (b *Bucket[T]) Flush() { b.buffer.Flush() }

// Done returns a channel that is closed when the vector is reduced, or cannot be.
func (e *BucketEntry[T]) Done() <-chan struct{} { return e.vector.Done() }

// Wait blocks until the vector is reduced, and returns why it could not be. The vector and those
// before it wait for others no longer. When ctx ends first, the reduction goes on, and so does Wait
// when called again.
func (e *BucketEntry[T]) Wait(ctx context.Context) error { return reduced(ctx, &e.vector) }

// reduced is Wait of a vector.
func reduced[T Element](ctx context.Context, v *fusion.Vector[T]) error {
	if !v.Wait(ctx) {
		return teamError("bucket", ctx.Err())
	}
	return v.Err()
}

// Wait blocks until all vectors are reduced that were added before, and returns why one could not be.
// They wait for others no longer. When ctx ends first, the same call goes on.
func (b *Bucket[T]) Wait(ctx context.Context) error {
	last, err := b.buffer.Last()
	if last == nil || err != nil {
		return err
	}
	return reduced(ctx, last) // they end in their order
}

// Close waits for all vectors and gives the memory of the bucket back. It is collective and blocks
// until all members have called it. When ctx ends first, the same call goes on. After the error of an
// operation Close waits for nobody.
func (b *Bucket[T]) Close(ctx context.Context) error {
	err := b.Wait(ctx)
	if nap.Ended(err) {
		return err
	}
	b.buffer.Join() // as nothing is under way
	if err == nil {
		if err = Barrier(ctx, b.team); nap.Ended(err) {
			return err
		}
	}
	b.buffer.Close(teamError("bucket", gaspi.ErrClosed))
	return errors.Join(err, b.team.Close())
}
