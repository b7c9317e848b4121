package collectives

import (
	"context"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// serve is the goroutine of a bucket. It ends when no vector is under way, or with the first error.
func (b *Bucket[T]) serve() {
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
func (b *Bucket[T]) next() (until time.Time, pending, over bool) {
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
	if b.bytes >= b.cfg.Size || first.number < b.urgent || b.cfg.Delay < 0 {
		return first.since, true, false
	}
	return first.since.Add(b.cfg.Delay), true, false
}

// sleep waits until the first operation has ended, which it completes, the vectors have waited long
// enough, or there is news.
func (b *Bucket[T]) sleep(until time.Time, pending bool) error {
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
func (b *Bucket[T]) firstEnded() <-chan struct{} {
	if len(b.fused) == 0 {
		return nil
	}
	return b.fused[0].handle.Done()
}

// await waits for the end of a negotiation, and completes operations meanwhile. It sleeps, which
// Wait of the handle would not do at once.
func (b *Bucket[T]) await(h *Handle) error {
	for {
		select {
		case <-h.Done():
			return h.Wait(context.Background())
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
func (b *Bucket[T]) negotiate() error {
	added, due := b.says()
	b.said = [2]uint64{added, ^due}
	h, err := Start(context.Background(), b.team, AllReduceTask(b.said[:], Min))
	if err != nil {
		return err
	}
	if err := b.await(h); err != nil {
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
				b.fused = append(b.fused, fusedOperation[T]{entries: group})
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
func (b *Bucket[T]) says() (added, due uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.waiting[0].since) >= b.cfg.Delay {
		return b.added, b.added
	}
	return b.added, b.urgent
}

// take takes the vectors of the next operation, nil if there is none: as many as fill it, of those that
// all members have added, or fewer if the first is due. It takes the same on all members.
func (b *Bucket[T]) take(added, due uint64) []*BucketEntry[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, bytes, full := 0, 0, false
	for ; n < len(b.waiting) && b.waiting[n].number < added && !full; n++ {
		more := len(reduce.BytesOf(b.waiting[n].buf))
		if full = bytes+more >= b.cfg.Size; full && n > 0 && bytes+more > b.cfg.Size {
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
func (b *Bucket[T]) begin(entries []*BucketEntry[T]) error {
	f := fusedOperation[T]{entries: entries}
	buf, ok := joined(entries)
	if !ok {
		f.stage = b.stage()
		for _, e := range entries {
			f.stage = append(f.stage, e.buf...)
		}
		buf = f.stage
	}
	var err error
	f.handle, err = Start(context.Background(), b.team, AllReduceTask(buf, b.op, b.opts...))
	b.fused = append(b.fused, f)
	b.begun++
	return err
}

// stage returns memory for copies of the vectors of an operation, none of which it holds yet.
func (b *Bucket[T]) stage() []T {
	if last := len(b.stages) - 1; last >= 0 {
		free := b.stages[last]
		b.stages = b.stages[:last]
		return free[:0]
	}
	return make([]T, 0, b.cfg.Size/combinable[T]().size)
}

// complete completes the first operation, which has ended.
func (b *Bucket[T]) complete() error {
	f := b.fused[0]
	if err := f.handle.Wait(context.Background()); err != nil {
		return err
	}
	if f.stage != nil {
		at := 0
		for _, e := range f.entries {
			at += copy(e.buf, f.stage[at:])
		}
		b.stages = append(b.stages, f.stage)
	}
	for _, e := range f.entries {
		close(e.done)
	}
	b.fused = b.fused[1:]
	return nil
}

// joined returns vectors that lie one behind the other as one.
func joined[T Element](entries []*BucketEntry[T]) ([]T, bool) {
	all := entries[0].buf
	for _, e := range entries[1:] {
		n := len(e.buf)
		if n == 0 {
			continue
		}
		if len(all)+n > cap(all) || &all[:len(all)+1][len(all)] != &e.buf[0] {
			return nil, false
		}
		all = all[:len(all)+n]
	}
	return all, true
}

// fail ends all vectors, and the goroutine.
func (b *Bucket[T]) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err, b.idle = err, true
	for _, f := range b.fused {
		failed(f.entries, err)
	}
	failed(b.waiting, err)
	b.fused, b.waiting = nil, nil
	close(b.serving)
}

// failed ends vectors with an error.
func failed[T Element](entries []*BucketEntry[T], err error) {
	for _, e := range entries {
		e.err = err
		close(e.done)
	}
}
