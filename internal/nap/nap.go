// Package nap bounds sleeps: a rank that waits for others wakes now and then to
// make sure that they are still there.
package nap

import (
	"context"
	"errors"
	"reflect"
	"time"
)

// A Nap makes the contexts of the waits of one rank: each ends with its parent, or at a time of its
// own after a wait began to sleep. Until a wait asks for Done its context is nothing but the parent,
// so that a wait that does not sleep pays for no timer; one timer serves the waits that do until it
// ends. The zero Nap is ready; it is for one goroutine at a time.
type Nap struct{ last *sleep }

// In returns a context that ends with parent, or at a time of its own within limit of when it is
// first asked for Done. It is good until the next call.
func (n *Nap) In(parent context.Context, limit time.Duration) context.Context {
	switch s := n.last; {
	case s == nil:
		n.last = &sleep{parent: parent, limit: limit}
	case s.timed == nil: // nobody but its user has it
		s.parent, s.limit = parent, limit
	case !s.serves(parent, limit):
		s.cancel()
		n.last = &sleep{parent: parent, limit: limit}
	}
	return n.last
}

// End ends the context.
func (n *Nap) End() {
	if n.last != nil && n.last.timed != nil {
		n.last.cancel()
	}
	n.last = nil
}

// Ended reports whether err says that a context has ended.
func Ended(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// A sleep is a context of a Nap. Once it has been asked for Done it never changes: the contexts made
// from it and the functions that run after it read it in goroutines of their own, also after the wait.
type sleep struct {
	parent context.Context
	limit  time.Duration

	timed  context.Context // nil until it is asked for Done
	cancel context.CancelFunc
}

// serves reports whether the timer that runs is also one for a wait with parent and limit.
func (s *sleep) serves(parent context.Context, limit time.Duration) bool {
	return s.limit == limit && s.timed.Err() == nil && reflect.TypeOf(parent).Comparable() && s.parent == parent
}

// start returns the context with the timer.
func (s *sleep) start() context.Context {
	if s.timed == nil {
		s.timed, s.cancel = context.WithTimeout(s.parent, s.limit)
	}
	return s.timed
}

// now returns the context that it consists of at present.
func (s *sleep) now() context.Context {
	if s.timed != nil {
		return s.timed
	}
	return s.parent
}

// Done implements context.Context.
func (s *sleep) Done() <-chan struct{} { return s.start().Done() }

// Deadline implements context.Context.
func (s *sleep) Deadline() (time.Time, bool) { return s.start().Deadline() }

// Err implements context.Context.
func (s *sleep) Err() error { return s.now().Err() }

// Value implements context.Context.
func (s *sleep) Value(key any) any { return s.now().Value(key) }
