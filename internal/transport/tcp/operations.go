package tcp

import (
	"context"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// This file is hot: from here to the system call of outbox.go:post there is no
// allocation and one lock.

var (
	_ transport.Link     = (*link)(nil)
	_ transport.LateLink = (*link)(nil)
)

// Put implements transport.Link.
func (l *link) Put(q *transport.Queue, dst transport.Addr, src segment.Span) error {
	n := src.Len()
	to, err := l.descriptor(dst.Segment, q.Lane())
	if err != nil {
		return err
	}
	if err := to.Check(dst.Offset, n); err != nil || n == 0 {
		return err
	}
	c, err := l.conn(context.Background(), q.Lane())
	if err != nil {
		return err
	}
	return c.post(q, &frame{
		kind: kindPut, length: n, segment: uint32(dst.Segment), generation: to.Generation, offset: dst.Offset,
	}, src)
}

// PutNotify implements transport.Link.
func (l *link) PutNotify(q *transport.Queue, dst transport.Addr, src segment.Span, n transport.Flag) error {
	to, err := l.descriptor(dst.Segment, q.Lane())
	if err != nil {
		return err
	}
	if err := to.Check(dst.Offset, src.Len()); err != nil {
		return err
	}
	flags := to
	if n.Segment != dst.Segment {
		if flags, err = l.descriptor(n.Segment, q.Lane()); err != nil {
			return err
		}
	}
	if err := flags.CheckFlag(n); err != nil {
		return err
	}
	c, err := l.conn(context.Background(), q.Lane())
	if err != nil {
		return err
	}
	f := frame{kind: kindPut, length: src.Len(), segment: uint32(dst.Segment), generation: to.Generation, offset: dst.Offset}
	f.setFlag(n, flags.Generation)
	return c.post(q, &f, src)
}

// Notify implements transport.Link. Earlier puts of the same queue travel on the same
// connection, ahead of the notification.
func (l *link) Notify(q *transport.Queue, n transport.Flag) error {
	flags, err := l.descriptor(n.Segment, q.Lane())
	if err != nil {
		return err
	}
	if err := flags.CheckFlag(n); err != nil {
		return err
	}
	return l.NotifyLate(q, n, flags.Generation)
}

// Generation implements transport.LateLink.
func (l *link) Generation(q *transport.Queue, id segment.ID) (uint64, error) {
	d, err := l.descriptor(id, q.Lane())
	if err != nil {
		return 0, err
	}
	return d.Generation, nil
}

// NotifyLate implements transport.LateLink: the peer refuses the flag of a segment that it has withdrawn.
func (l *link) NotifyLate(q *transport.Queue, n transport.Flag, generation uint64) error {
	c, err := l.conn(context.Background(), q.Lane())
	if err != nil {
		return err
	}
	f := frame{kind: kindNotify}
	f.setFlag(n, generation)
	return c.post(q, &f, segment.Span{})
}

// Get implements transport.Link.
func (l *link) Get(q *transport.Queue, dst segment.Span, src transport.Addr) error {
	return l.get(q, dst, src, nil, transport.Flag{})
}

// GetNotify implements transport.Link.
func (l *link) GetNotify(q *transport.Queue, dst segment.Span, src transport.Addr, b *notify.Array, n transport.Flag) error {
	if dst.Len() > 0 {
		return l.get(q, dst, src, b, n)
	}
	if err := l.get(q, dst, src, nil, n); err != nil {
		return err
	}
	c := l.channels[q.Lane()%uint32(len(l.channels))].conn.Load()
	if c == nil { // no get was issued there
		n.Post(b)
		return nil
	}
	return c.notifyAfterGets(q, b, n)
}

func (l *link) get(q *transport.Queue, dst segment.Span, src transport.Addr, b *notify.Array, n transport.Flag) error {
	from, err := l.descriptor(src.Segment, q.Lane())
	if err != nil {
		return err
	}
	if err := from.Check(src.Offset, dst.Len()); err != nil || dst.Len() == 0 {
		return err
	}
	c, err := l.conn(context.Background(), q.Lane())
	if err != nil {
		return err
	}
	c.out.mu.Lock()
	r := c.out.requestLocked()
	r.queue, r.dst, r.keep, r.array, r.flag = q, dst.Bytes(), dst, b, n
	return c.sendAndUnlock(r, &frame{
		kind: kindGet, length: dst.Len(), segment: uint32(src.Segment), generation: from.Generation, offset: src.Offset,
	})
}

// Atomic implements transport.Link.
func (l *link) Atomic(ctx context.Context, at transport.Addr, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	var grace transport.Grace
	to, err := l.known(at.Segment)
	if to == nil && err == nil {
		to, err = l.attach(ctx, &grace, at.Segment, l.idleChannel())
	}
	if err != nil {
		return 0, err
	}
	if err := to.CheckWord(at.Offset); err != nil {
		return 0, err
	}
	c, err := l.conn(ctx, l.idleChannel())
	if err != nil {
		return 0, err
	}
	r := new(request)
	if err := c.send(r, &frame{
		kind: kindAtomic, code: uint8(op), segment: uint32(at.Segment), generation: to.Generation, offset: at.Offset,
		a: operand, b: compare,
	}); err != nil {
		return 0, err
	}
	return r.AwaitValue(ctx, &grace, l.array, func() bool { return c.cancel(r) })
}

// Size implements transport.Link. It sends nothing once a segment has been used. The
// announcement of a withdrawal arrives before the reply to any later Flush.
func (l *link) Size(id segment.ID) (uint64, uint32, error) {
	d, err := l.descriptor(id, l.idleChannel())
	if err != nil {
		return 0, 0, err
	}
	return d.Size, d.Notifications, nil
}

// Mapped implements transport.Link: there is no such memory.
func (l *link) Mapped(transport.Addr, uint64) (segment.Span, bool) { return segment.Span{}, false }

// Flush implements transport.Link. It also returns a refusal of an earlier put by the
// peer.
func (l *link) Flush(ctx context.Context, q *transport.Queue) error {
	if err := l.peer.Err(); err != nil {
		return err
	}
	c := l.channels[q.Lane()%uint32(len(l.channels))].conn.Load()
	if c == nil { // nothing was put there
		return nil
	}
	if err := c.call(ctx, &frame{kind: kindFlush}); err != nil {
		return err
	}
	c.out.mu.Lock()
	refused := c.out.queueIDs.takeRefusal(q)
	c.out.mu.Unlock()
	if refused != nil && q.Forget(refused) {
		return refused
	}
	return nil
}

// Ping implements transport.Link. The peer's transport replies, whatever its program
// does.
func (l *link) Ping(ctx context.Context) error {
	if err := l.peer.Err(); err != nil {
		return err
	}
	c, err := l.conn(ctx, l.idleChannel())
	if err != nil {
		return err
	}
	return c.call(ctx, &frame{kind: kindFlush})
}

// idleChannel returns the number of a channel that is open and has nothing to send,
// or 0.
func (l *link) idleChannel() uint32 {
	for i := range l.channels {
		if c := l.channels[i].conn.Load(); c != nil && !c.out.armed.Load() {
			return uint32(i)
		}
	}
	return 0
}
