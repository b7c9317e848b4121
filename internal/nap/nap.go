// Package nap bounds sleeps: a rank that waits for others wakes now and then to
// make sure that they are still there.
package nap

import (
	"context"
	"reflect"
	"time"
)

// A Nap bounds the sleeps of one rank. Its context serves all of them until it
// ends, so that a wait makes no context of its own. The zero Nap is ready; it is
// for one goroutine at a time.
type Nap struct {
	parent context.Context
	ctx    context.Context
	cancel context.CancelFunc
}

// In is a context that ends with parent, or at a time of its own within limit.
func (n *Nap) In(parent context.Context, limit time.Duration) context.Context {
	if n.ctx != nil && n.parent == parent && n.ctx.Err() == nil {
		return n.ctx
	}
	n.End()
	if reflect.TypeOf(parent).Comparable() { // else no comparison with it is possible
		n.parent = parent
	}
	n.ctx, n.cancel = context.WithTimeout(parent, limit)
	return n.ctx
}

// End gives the context back.
func (n *Nap) End() {
	if n.cancel != nil {
		n.cancel()
	}
	*n = Nap{}
}
