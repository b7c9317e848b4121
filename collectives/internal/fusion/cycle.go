package fusion

import (
	"context"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// A fusedOperation is an operation that is under way.
type fusedOperation[T any] struct {
	op      Started // nil if it could not be begun
	vectors []*Vector[T]
	stage   []T // a copy of the vectors, nil if they are reduced in place
}

// serve is the goroutine of a buffer. It ends when no vector is under way, or with the first error.
func (b *Buffer[T]) serve() {
	for {
		until, pending, over := b.next()
		switch {
		case over:
			return
		case pending && !until.After(time.Now()) && len(b.fused) < mostFused:
			if err := b.negotiate(); err != nil {
				b.fail(err)
				return
			}
		default:
			if err := b.sleep(until, pending); err != nil {
				b.fail(err)
				return
			}
		}
	}
}

// next returns when vectors have waited long enough, whether there are any, and whether the goroutine
// ends because nothing is under way.
func (b *Buffer[T]) next() (until time.Time, pending, over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		if len(b.fused) == 0 {
			b.idle, over = true, true
			close(b.serving)
		}
		return until, false, over
	}
	first := b.waiting[0]
	if b.bytes >= b.bound.Bytes || first.number < b.urgent || b.bound.Delay < 0 {
		return first.since, true, false
	}
	return first.since.Add(b.bound.Delay), true, false
}

// sleep waits until the first operation has ended, which it completes, the vectors have waited long
// enough, or there is news.
func (b *Buffer[T]) sleep(until time.Time, pending bool) error {
	var due <-chan time.Time
	if pending && len(b.fused) < mostFused {
		alarm := time.NewTimer(time.Until(until))
		defer alarm.Stop()
		due = alarm.C
	}
	select {
	case <-b.firstEnded():
		return b.complete()
	case <-due:
	case <-b.wake:
	}
	return nil
}

// firstEnded returns a channel that is closed when the first operation under way has ended, nil if
// there is none.
func (b *Buffer[T]) firstEnded() <-chan struct{} {
	if len(b.fused) == 0 {
		return nil
	}
	return b.fused[0].op.Done()
}

// await waits for the end of a negotiation, and completes operations meanwhile. It sleeps, which
// Wait of the operation would not do at once.
func (b *Buffer[T]) await(op Started) error {
	for {
		select {
		case <-op.Done():
			return op.Wait(context.Background())
		case <-b.firstEnded():
			if err := b.complete(); err != nil {
				return err
			}
		}
	}
}

// negotiate agrees with the other members on vectors, and begins to reduce them. Each cycle of all
// members takes one vector at least: some member has said that its first is due, or all have as many as
// fill an operation.
func (b *Buffer[T]) negotiate() error {
	added, due := b.says()
	b.said = [2]uint64{added, ^due}
	op, err := b.reducer.StartMin(b.said[:])
	if err != nil {
		return err
	}
	if err := b.await(op); err != nil {
		return err
	}
	for added, due = b.said[0], ^b.said[1]; ; {
		group := b.take(added, due)
		if group == nil {
			return nil
		}
		for len(b.fused) >= mostFused {
			<-b.firstEnded()
			if err := b.complete(); err != nil {
				b.fused = append(b.fused, fusedOperation[T]{vectors: group})
				return err
			}
		}
		if err := b.begin(group); err != nil {
			return err
		}
	}
}

// says returns how many vectors this member has added ever, and how many of these are not to wait for
// others.
func (b *Buffer[T]) says() (added, due uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.waiting[0].since) >= b.bound.Delay {
		return b.added, b.added
	}
	return b.added, b.urgent
}

// take takes the vectors of the next operation, nil if there is none: as many as fill it, of those that
// all members have added, or fewer if the first is due. It takes the same on all members.
func (b *Buffer[T]) take(added, due uint64) []*Vector[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, bytes, full := 0, 0, false
	for ; n < len(b.waiting) && b.waiting[n].number < added && !full; n++ {
		more := len(reduce.BytesOf(b.waiting[n].buf))
		if full = bytes+more >= b.bound.Bytes; full && n > 0 && bytes+more > b.bound.Bytes {
			break
		}
		bytes += more
	}
	if n == 0 || !full && b.waiting[0].number >= due {
		return nil
	}
	group := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	b.bytes -= bytes
	return group
}

// begin begins the operation of some vectors, also if it fails.
func (b *Buffer[T]) begin(vectors []*Vector[T]) error {
	f := fusedOperation[T]{vectors: vectors}
	buf, ok := joined(vectors)
	if !ok {
		f.stage = b.stage(vectors)
		for _, v := range vectors {
			f.stage = append(f.stage, v.buf...)
		}
		buf = f.stage
	}
	op, err := b.reducer.Start(buf)
	if err == nil {
		f.op = op
	}
	b.fused = append(b.fused, f)
	return err
}

// stage returns memory for copies of the vectors of an operation, none of which it holds yet.
func (b *Buffer[T]) stage(vectors []*Vector[T]) []T {
	n := 0
	for _, v := range vectors {
		n += len(v.buf)
	}
	var free []T
	if last := len(b.stages) - 1; last >= 0 {
		free = b.stages[last][:0]
		b.stages = b.stages[:last]
	}
	return slices.Grow(free, n)
}

// complete completes the first operation, which has ended.
func (b *Buffer[T]) complete() error {
	f := b.fused[0]
	if err := f.op.Wait(context.Background()); err != nil {
		return err
	}
	if f.stage != nil {
		at := 0
		for _, v := range f.vectors {
			at += copy(v.buf, f.stage[at:])
		}
		b.stages = append(b.stages, f.stage)
	}
	for _, v := range f.vectors {
		close(v.done)
	}
	b.fused = b.fused[1:]
	return nil
}

// joined returns vectors that lie one behind the other as one. Empty ones may lie anywhere.
func joined[T any](vectors []*Vector[T]) ([]T, bool) {
	all := vectors[0].buf
	for _, v := range vectors[1:] {
		n := len(v.buf)
		switch {
		case n == 0:
			continue
		case len(all) == 0:
			all = v.buf
			continue
		}
		if len(all)+n > cap(all) || &all[:len(all)+1][len(all)] != &v.buf[0] {
			return nil, false
		}
		all = all[:len(all)+n]
	}
	return all, true
}

// fail ends all vectors, and the goroutine, once no operation writes to one: an error of the first ends those that follow.
func (b *Buffer[T]) fail(err error) {
	b.mu.Lock()
	b.err = err
	b.mu.Unlock()
	for _, f := range b.fused {
		if f.op != nil {
			<-f.op.Done()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle = true
	for _, f := range b.fused {
		failed(f.vectors, err)
	}
	failed(b.waiting, err)
	b.fused, b.waiting = nil, nil
	close(b.serving)
}

// failed ends vectors with an error.
func failed[T any](vectors []*Vector[T], err error) {
	for _, v := range vectors {
		v.err = err
		close(v.done)
	}
}
