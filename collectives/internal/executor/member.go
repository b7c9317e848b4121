package executor

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
	"weak"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// A Member is what the executor needs of a member of a team. It is for one goroutine at a time.
type Member struct {
	Proc    *gaspi.Proc
	Queue   *gaspi.Queue
	Control *gaspi.Segment // its notifications are posted
	Ranks   []gaspi.Rank   // of the job, by number in the team
	Me      int            // number in the team

	// Patience is how long a wait lasts before its reason is looked for.
	Patience time.Duration
	// Blame returns the end of a member if that is why an error came, and else the error.
	Blame func(error) error
	// Wanted ends an Advance at the next await while it is positive: somebody waits for the member.
	// Nil means that nobody does.
	Wanted *atomic.Int32
	// BeforeDecode is called with each coded form before it is decoded, unless it is nil. Tests
	// corrupt forms by it.
	BeforeDecode func(form []byte)
	// Timeline records steps, unless it is nil.
	Timeline *trace.Recorder

	naps  nap.Nap
	folds folder
	row   awaitRow
	draft weak.Pointer[draft] // of the last plan
}

// wanted reports whether somebody waits for the member.
func (m *Member) wanted() bool { return m.Wanted != nil && m.Wanted.Load() > 0 }

// Nap returns a context that ends with ctx, and when a wait has slept for the patience. It is good
// until the next call of Nap or NapOf.
func (m *Member) Nap(ctx context.Context) context.Context { return m.naps.In(ctx, m.Patience) }

// NapOf is Nap of another patience.
func (m *Member) NapOf(ctx context.Context, patience time.Duration) context.Context {
	return m.naps.In(ctx, patience)
}

// Close ends the contexts of naps.
func (m *Member) Close() { m.naps.End() }

// WaitQueue blocks until the operations of the queue have ended. One to a member that has left
// normally may have failed.
func (m *Member) WaitQueue(ctx context.Context) error {
	for {
		err := m.Queue.Wait(ctx)
		if err == nil || m.Unneeded(err) != nil {
			return err
		}
	}
}

// Unneeded returns err unless it says that an operation failed because its target has left
// normally: the target did not need the operation. If a member needs the one that left, its
// wait says so.
func (m *Member) Unneeded(err error) error {
	if err == nil || nap.Ended(err) {
		return err
	}
	if f, ok := errors.AsType[*gaspi.RankError](m.Blame(err)); ok && f.Left {
		return nil
	}
	return err
}

// WriteNotify posts src and a notification behind it. It blocks while the queue is full.
func (m *Member) WriteNotify(ctx context.Context, to gaspi.Remote, src gaspi.Span, n gaspi.Notification) error {
	return m.post(ctx, func() error { return m.Queue.WriteNotify(to, src, n) })
}

// Notify posts a notification. It blocks while the queue is full.
func (m *Member) Notify(ctx context.Context, to gaspi.Remote, n gaspi.Notification) error {
	return m.post(ctx, func() error { return m.Queue.Notify(to, n) })
}

// post does something with the queue again until it is not full.
func (m *Member) post(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err != gaspi.ErrQueueFull {
			return err
		}
		if err := m.WaitQueue(ctx); err != nil {
			return err
		}
	}
}

// Flush blocks until the posts to a rank have arrived there.
func (m *Member) Flush(ctx context.Context, to gaspi.Rank) error { return m.Queue.Flush(ctx, to) }
