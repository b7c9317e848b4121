package ssp

import (
	"context"
)

// Close ends this rank's part, collectively: it returns when all members have
// called it. Until then it keeps the reduction going for those that have not,
// with this rank's last contribution, which counts as fresh from now on; see the
// package comment. A call that ended early is finished first.
//
// When ctx ends first, calling Close again goes on. When a member is gone it
// returns a *gaspi.RankError, and the memory stays until the rank's Proc is
// closed, because other members may still write there. When New has failed at a member it
// returns an error that matches gaspi.ErrRevoked, and the reduction is closed. After that and after a successful Close
// the reduction cannot be used any more, and closing it again does nothing.
func (r *Reduction[T]) Close(ctx context.Context) error {
	if err := r.enter("close"); err != nil {
		return err
	}
	defer r.busy.Store(false)
	r.closing = true
	if r.wire == nil || r.closed {
		r.closed = true
		r.endClock()
		return nil
	}
	err := r.settle(ctx)
	if err == nil {
		err = r.wire.close(ctx)
	}
	if err == nil || r.wire.own.Revoked() != nil {
		r.closed = true
		r.endClock()
	}
	if err != nil {
		if r.closed {
			r.wire.giveUp()
		}
		return r.error("close", err)
	}
	return nil
}

// settle makes calls until this rank's last contribution is with all members.
func (r *Reduction[T]) settle(ctx context.Context) error {
	for !r.settled {
		if !r.active {
			if err := r.begin(ctx, nil); err != nil {
				return err
			}
		}
		if err := r.finish(ctx); err != nil {
			return err
		}
		r.settled = r.partial.fresh == final
	}
	return nil
}

// close drains the links and gives everything back once all members have done so.
func (w *wire) close(ctx context.Context) error {
	if !w.drained {
		if err := w.drain(ctx); err != nil {
			return err
		}
		// Not again: once this rank is in the barrier, others may be through it.
		w.drained = true
	}
	if err := w.proc.Barrier(ctx, w.own); err != nil {
		return err
	}
	if err := w.release(); err != nil {
		return err
	}
	return w.own.Delete()
}

// giveUp gives everything back after a revocation: writes of others that come later find that
// the segment was deleted.
func (w *wire) giveUp() {
	w.queue.Purge()
	_ = w.release() // the revocation says more
	_ = w.own.Delete()
}

// release gives back the memory and the queue, as far as they were made.
func (w *wire) release() error {
	if w.queue != nil {
		if err := w.queue.Delete(); err != nil {
			return err
		}
	}
	if w.seg != nil {
		return w.seg.Delete()
	}
	return nil
}
