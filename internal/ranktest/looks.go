package ranktest

import (
	"context"
	"sync/atomic"
)

// A looked is a context that ends when it is looked at for the last time, as each wait does
// that is going to sleep.
type looked struct {
	context.Context
	end  context.CancelFunc
	left atomic.Int32
}

// EndAfter returns a context that ends at one of the looks at it, which count from 1: a test that
// tries all of them ends a call wherever it waits.
func EndAfter(ctx context.Context, looks int) context.Context {
	inner, cancel := context.WithCancel(ctx)
	l := &looked{Context: inner, end: cancel}
	l.left.Store(int32(looks))
	return l
}

// Err returns the error of the inner context, which the last look ends.
func (l *looked) Err() error {
	if l.left.Add(-1) == 0 {
		l.end()
	}
	return l.Context.Err()
}
