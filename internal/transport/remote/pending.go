package remote

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// Pending is a table of requests that were sent and have no reply yet. Each has a
// number, which the reply repeats; a number is free again once its request was
// removed. The zero Pending is empty. Its user guards it.
type Pending[R any] struct {
	all  []*R // index is the number; nil where free
	free []uint32
}

// Add adds r and returns its number.
func (p *Pending[R]) Add(r *R) uint32 {
	if n := len(p.free); n > 0 {
		number := p.free[n-1]
		p.free = p.free[:n-1]
		p.all[number] = r
		return number
	}
	p.all = append(p.all, r)
	return uint32(len(p.all) - 1)
}

// Get returns the request with that number, or nil.
func (p *Pending[R]) Get(number uint32) *R {
	if uint64(number) >= uint64(len(p.all)) {
		return nil
	}
	return p.all[number]
}

// Remove takes the request with that number, which is in the table, out of it.
func (p *Pending[R]) Remove(number uint32) {
	p.all[number] = nil
	p.free = append(p.free, number)
}

// Len returns how many requests are in the table.
func (p *Pending[R]) Len() int { return len(p.all) - len(p.free) }

// Drain empties the table and returns the requests that were in it.
func (p *Pending[R]) Drain() (all []*R) {
	for _, r := range p.all {
		if r != nil {
			all = append(all, r)
		}
	}
	*p = Pending[R]{}
	return all
}

// A Call is the part of a request that its caller blocks on. The zero Call is ready.
type Call struct {
	value uint64
	err   error
	done  atomic.Bool // set after value and err
}

// Complete ends the call: value and err are for its caller. The caller of Complete
// wakes the waiters afterwards.
func (c *Call) Complete(value uint64, err error) {
	c.value, c.err = value, err
	c.done.Store(true)
}

// Await blocks on array until the call is complete, and returns its error. Once ctx
// has ended it returns the error of ctx, after cancel, which takes the request back if
// that was not sent yet and reports whether it could. The reply is dropped then.
func (c *Call) Await(ctx context.Context, array *notify.Array, cancel func() bool) error {
	if err := c.wait(ctx, array); err != nil {
		cancel()
		return err
	}
	return c.err
}

// AwaitGrace is Await, but goes on after the end of ctx for as long as grace allows.
func (c *Call) AwaitGrace(ctx context.Context, grace *transport.Grace, array *notify.Array, cancel func() bool) error {
	if err := c.waitGrace(ctx, grace, array); err != nil {
		cancel()
		return err
	}
	return c.err
}

// AwaitValue is AwaitGrace for an atomic, and returns the old value. If the peer may
// still carry the atomic out, the error is a *base.InDoubtError, whose Wait blocks
// until the reply arrives (orphaned atomic).
func (c *Call) AwaitValue(ctx context.Context, grace *transport.Grace, array *notify.Array, cancel func() bool) (uint64, error) {
	err := c.waitGrace(ctx, grace, array)
	switch {
	case err == nil:
		return c.value, c.err
	case !errors.Is(err, ctx.Err()) || cancel():
		return 0, err
	}
	return 0, base.InDoubt(err, func(ctx context.Context) (uint64, error) {
		if err := c.wait(ctx, array); err != nil {
			return 0, err
		}
		return c.value, c.err
	})
}

func (c *Call) waitGrace(ctx context.Context, grace *transport.Grace, array *notify.Array) error {
	return grace.Wait(ctx, func(ctx context.Context) error { return c.wait(ctx, array) })
}

func (c *Call) wait(ctx context.Context, array *notify.Array) error {
	return array.WaitFunc(ctx, c.done.Load, nil, nil)
}
