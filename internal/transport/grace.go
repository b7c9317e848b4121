package transport

import (
	"context"
	"errors"
	"time"
)

// AnswerMost is how long an Atomic goes on waiting for its peer after its context has
// ended. A peer whose transport runs answers within milliseconds also on a machine that
// is busy; one that takes longer is stopped or cut off, and its callers want to know.
const AnswerMost = time.Second

type endKey struct{}

// WithEnd returns a context that ends with ctx or with end, whichever is first, and has the
// values of ctx. A Grace of it ends with end at the latest. cancel is to be called when the
// context is not needed any more.
func WithEnd(ctx, end context.Context) (both context.Context, cancel func()) {
	both, finish := context.WithCancel(context.WithValue(ctx, endKey{}, end))
	stop := context.AfterFunc(end, finish)
	return both, func() {
		stop()
		finish()
	}
}

// A Grace is the time that the waits of one call have after its context has ended:
// AnswerMost, all together. The zero Grace is ready.
type Grace struct{ until time.Time }

// Wait calls wait, which blocks until what it waits for is there or its context ends:
// with ctx, and if that ends, with one that ends when the time is over, or with the end
// that WithEnd gave ctx. It returns the error of ctx after that.
func (g *Grace) Wait(ctx context.Context, wait func(ctx context.Context) error) error {
	err := wait(ctx)
	if err == nil || ctx.Err() == nil {
		return err
	}
	if g.until.IsZero() {
		g.until = time.Now().Add(AnswerMost)
	}
	end, ok := ctx.Value(endKey{}).(context.Context)
	if !ok {
		end = context.WithoutCancel(ctx)
	}
	late, cancel := context.WithDeadline(end, g.until)
	defer cancel()
	if err = wait(late); err != nil && errors.Is(err, late.Err()) {
		return ctx.Err()
	}
	return err
}
