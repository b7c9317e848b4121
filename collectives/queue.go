package collectives

import (
	"context"
	"errors"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// waitQueue blocks until the operations of the queue have ended. One to a member that has left
// normally may have failed.
func (t *Team) waitQueue(ctx context.Context) error {
	for {
		err := t.queue.Wait(ctx)
		if err == nil || t.unneeded(err) != nil {
			return err
		}
	}
}

// unneeded returns err unless it says that an operation failed because its target has left
// normally: the target did not need the operation. If a member needs the one that left, its
// wait says so.
func (t *Team) unneeded(err error) error {
	if err == nil || ctxErr(err) {
		return err
	}
	if f, ok := errors.AsType[*gaspi.RankError](t.blame(err)); ok && f.Left {
		return nil
	}
	return err
}

// post does something with the queue again until it is not full.
func (t *Team) post(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err != gaspi.ErrQueueFull {
			return err
		}
		if err := t.waitQueue(ctx); err != nil {
			return err
		}
	}
}

// A poster posts through the queue of a team, and blocks while that is full.
type poster struct{ t *Team }

// WriteNotify posts src and a notification behind it.
func (p poster) WriteNotify(ctx context.Context, to gaspi.Remote, src gaspi.Span, n gaspi.Notification) error {
	return p.t.post(ctx, func() error { return p.t.queue.WriteNotify(to, src, n) })
}

// Notify posts a notification.
func (p poster) Notify(ctx context.Context, to gaspi.Remote, n gaspi.Notification) error {
	return p.t.post(ctx, func() error { return p.t.queue.Notify(to, n) })
}

// Flush blocks until the posts to a rank have arrived there.
func (p poster) Flush(ctx context.Context, to gaspi.Rank) error { return p.t.queue.Flush(ctx, to) }

// Unneeded returns err unless the target has left normally.
func (p poster) Unneeded(err error) error { return p.t.unneeded(err) }
