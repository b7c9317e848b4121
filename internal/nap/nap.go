// Package nap bounds sleeps: a rank that waits for others wakes now and then to
// make sure that they are still there.
package nap

import (
	"context"
	"reflect"
	"time"
)

// A Nap is the context of the waits of one rank. It ends with its parent, or at a
// time of its own after a wait began to sleep. Until a wait asks for Done it is
// nothing but the parent, so that a wait that does not sleep pays for no timer;
// one timer serves the waits that do until it ends. The zero Nap is ready; it is
// for one goroutine at a time.
type Nap struct {
	parent context.Context
	limit  time.Duration

	timed  context.Context // nil unless a wait has slept lately
	of     context.Context // what timed ends with
	cancel context.CancelFunc
}

// In is a context that ends with parent, or at a time of its own within limit of
// when it is first asked for Done. It is good until the next call.
func (n *Nap) In(parent context.Context, limit time.Duration) context.Context {
	n.parent, n.limit = parent, limit
	if n.timed != nil && (n.of != parent || n.timed.Err() != nil) {
		n.stop()
	}
	return n
}

// End gives the context back.
func (n *Nap) End() {
	n.stop()
	n.parent = nil
}

func (n *Nap) stop() {
	if n.cancel != nil {
		n.cancel()
	}
	n.timed, n.of, n.cancel = nil, nil, nil
}

// start is the context with the timer.
func (n *Nap) start() context.Context {
	if n.timed == nil {
		n.timed, n.cancel = context.WithTimeout(n.parent, n.limit)
		if reflect.TypeOf(n.parent).Comparable() { // else no comparison with it is possible
			n.of = n.parent
		}
	}
	return n.timed
}

// now is what the context consists of at present.
func (n *Nap) now() context.Context {
	if n.timed != nil {
		return n.timed
	}
	return n.parent
}

// Steady returns the context of the present wait, which is safe for use by any goroutine, also
// after the wait. A Nap itself must not be the parent of another context, nor have a function
// that runs after it.
func (n *Nap) Steady() context.Context { return n.start() }

// Done implements context.Context.
func (n *Nap) Done() <-chan struct{} { return n.start().Done() }

// Deadline implements context.Context.
func (n *Nap) Deadline() (time.Time, bool) { return n.start().Deadline() }

// Err implements context.Context.
func (n *Nap) Err() error { return n.now().Err() }

// Value implements context.Context.
func (n *Nap) Value(key any) any { return n.now().Value(key) }
