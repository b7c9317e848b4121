package ssp

import (
	"context"
	"reflect"
	"time"
)

// lookAgain is how often a sleeping rank makes sure that all members are still
// there. A death ends its sleep at once; but a rank that returned without Close
// is no failure to package gaspi, and would be waited for for ever.
const lookAgain = 500 * time.Millisecond

// A nap bounds the sleeps of one rank. Its context serves all of them until it
// ends, so that a wait makes no context of its own.
type nap struct {
	parent context.Context
	ctx    context.Context
	cancel context.CancelFunc
}

// in is a context that ends with parent, or at a time of its own within
// lookAgain.
func (n *nap) in(parent context.Context) context.Context {
	if n.ctx == nil || n.ctx.Err() != nil || !reflect.TypeOf(parent).Comparable() || n.parent != parent {
		n.end()
		n.parent = parent
		n.ctx, n.cancel = context.WithTimeout(parent, lookAgain)
	}
	return n.ctx
}

// end gives the context back.
func (n *nap) end() {
	if n.cancel != nil {
		n.cancel()
	}
	*n = nap{}
}
