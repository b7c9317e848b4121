package faulty

import (
	"context"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// near is the way to a rank of the same host: its memory. Operations of a rank that is stopped
// or killed have no effect.
type near struct {
	transport.Link
	t *Transport
}

// unlessSilent does an operation, unless the rank is stopped or killed.
func (l *near) unlessSilent(do func() error) error {
	if silent, err := l.t.silent(); silent {
		return err
	}
	return do()
}

// Put implements transport.Link.
func (l *near) Put(q *transport.Queue, dst transport.Addr, src segment.Span) error {
	return l.unlessSilent(func() error { return l.Link.Put(q, dst, src) })
}

// PutNotify implements transport.Link.
func (l *near) PutNotify(q *transport.Queue, dst transport.Addr, src segment.Span, f transport.Flag) error {
	return l.unlessSilent(func() error { return l.Link.PutNotify(q, dst, src, f) })
}

// Notify implements transport.Link.
func (l *near) Notify(q *transport.Queue, f transport.Flag) error {
	return l.unlessSilent(func() error { return l.Link.Notify(q, f) })
}

// Get implements transport.Link.
func (l *near) Get(q *transport.Queue, dst segment.Span, src transport.Addr) error {
	return l.unlessSilent(func() error { return l.Link.Get(q, dst, src) })
}

// GetNotify implements transport.Link.
func (l *near) GetNotify(q *transport.Queue, dst segment.Span, src transport.Addr, b *notify.Array, f transport.Flag) error {
	return l.unlessSilent(func() error { return l.Link.GetNotify(q, dst, src, b, f) })
}

// Atomic implements transport.Link.
func (l *near) Atomic(ctx context.Context, at transport.Addr, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	if silent, err := l.t.silent(); silent {
		return 0, err
	}
	return l.Link.Atomic(ctx, at, op, operand, compare)
}
