package gaspi

import (
	"context"
	"errors"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// Goal: a Wait after Purge tells of operations that were issued after it, and not of those that were given up: it would name
// a rank that the program has dealt with, for writes to others.
// Method: operations of a queue that fail before Purge, while it is called, and after it. Only the last one is told.
func TestPurgeGivesFailuresUp(t *testing.T) {
	err := Local(t.Context(), 1, Config{}, func(ctx context.Context, p *Proc) error {
		q, given := p.MustQueue(0), errors.New("given up")
		var ops [3]transport.Op
		q.traffic.Begin(&ops[0])
		q.traffic.Begin(&ops[1])
		q.traffic.End(&ops[0], given)
		q.Purge()
		if err := q.Wait(within(ctx)); !errors.Is(err, context.Canceled) {
			t.Errorf("a Wait while an operation is under way: %v, want that its context has ended", err)
		}
		q.traffic.Begin(&ops[2])
		q.traffic.End(&ops[1], given)
		last := errors.New("last")
		q.traffic.End(&ops[2], last)
		if err := q.Wait(ctx); !errors.Is(err, last) {
			t.Errorf("%v, want the failure after Purge", err)
		}
		return q.Wait(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}

// within is a context that has ended.
func within(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}
