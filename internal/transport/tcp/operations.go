package tcp

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// This file is hot: from here to the system call of outbox.go:post there is no
// allocation and one lock.

var _ transport.Link = (*link)(nil)

// Put implements transport.Link.
func (l *link) Put(q *transport.Queue, dst transport.Addr, src segment.Span) error {
	n := src.Len()
	to, err := l.remote(dst.Segment, q.Lane())
	if err != nil {
		return err
	}
	if err := to.check(dst.Offset, n); err != nil || n == 0 {
		return err
	}
	c, err := l.conn(context.Background(), q.Lane())
	if err != nil {
		return err
	}
	return c.post(q, &frame{
		kind: kindPut, length: n, segment: uint32(dst.Segment), generation: to.generation, offset: dst.Offset,
	}, src)
}

// PutNotify implements transport.Link.
func (l *link) PutNotify(q *transport.Queue, dst transport.Addr, src segment.Span, n transport.Flag) error {
	to, err := l.remote(dst.Segment, q.Lane())
	if err != nil {
		return err
	}
	if err := to.check(dst.Offset, src.Len()); err != nil {
		return err
	}
	note := to
	if n.Segment != dst.Segment {
		if note, err = l.remote(n.Segment, q.Lane()); err != nil {
			return err
		}
	}
	if err := note.checkNote(n); err != nil {
		return err
	}
	c, err := l.conn(context.Background(), q.Lane())
	if err != nil {
		return err
	}
	f := frame{kind: kindPut, length: src.Len(), segment: uint32(dst.Segment), generation: to.generation, offset: dst.Offset}
	f.setNote(n, note.generation)
	return c.post(q, &f, src)
}

// Notify implements transport.Link. What was put before on the same queue travels
// on the same connection, ahead of it.
func (l *link) Notify(q *transport.Queue, n transport.Flag) error {
	note, err := l.remote(n.Segment, q.Lane())
	if err != nil {
		return err
	}
	if err := note.checkNote(n); err != nil {
		return err
	}
	c, err := l.conn(context.Background(), q.Lane())
	if err != nil {
		return err
	}
	f := frame{kind: kindNotify}
	f.setNote(n, note.generation)
	return c.post(q, &f, segment.Span{})
}

// Get implements transport.Link.
func (l *link) Get(q *transport.Queue, dst segment.Span, src transport.Addr) error {
	return l.get(q, dst, src, nil, transport.Flag{})
}

// GetNotify implements transport.Link.
func (l *link) GetNotify(q *transport.Queue, dst segment.Span, src transport.Addr, b *notify.Board, n transport.Flag) error {
	if dst.Len() > 0 {
		return l.get(q, dst, src, b, n)
	}
	if err := l.get(q, dst, src, nil, n); err != nil {
		return err
	}
	c := l.lanes[q.Lane()%uint32(len(l.lanes))].conn.Load()
	if c == nil { // so nothing was asked there
		n.Post(b)
		return nil
	}
	return c.behind(q, b, n)
}

func (l *link) get(q *transport.Queue, dst segment.Span, src transport.Addr, b *notify.Board, n transport.Flag) error {
	from, err := l.remote(src.Segment, q.Lane())
	if err != nil {
		return err
	}
	if err := from.check(src.Offset, dst.Len()); err != nil || dst.Len() == 0 {
		return err
	}
	c, err := l.conn(context.Background(), q.Lane())
	if err != nil {
		return err
	}
	c.out.mu.Lock()
	r := c.out.requestLocked()
	r.queue, r.dst, r.keep, r.board, r.flag = q, dst.Bytes(), dst, b, n
	return c.askAndUnlock(r, &frame{
		kind: kindGet, length: dst.Len(), segment: uint32(src.Segment), generation: from.generation, offset: src.Offset,
	})
}

// Atomic implements transport.Link.
func (l *link) Atomic(ctx context.Context, at transport.Addr, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	var grace transport.Grace
	to, err := l.known(at.Segment)
	if to == nil && err == nil {
		to, err = l.attach(ctx, &grace, at.Segment, l.quiet())
	}
	if err != nil {
		return 0, err
	}
	if err := to.check(at.Offset, 8); err != nil {
		return 0, err
	}
	if at.Offset%8 != 0 {
		return 0, fmt.Errorf("%w: byte %d", base.ErrUnaligned, at.Offset)
	}
	c, err := l.conn(ctx, l.quiet())
	if err != nil {
		return 0, err
	}
	r := new(request)
	if err := c.ask(r, &frame{
		kind: kindAtomic, code: uint8(op), segment: uint32(at.Segment), generation: to.generation, offset: at.Offset,
		a: operand, b: compare,
	}); err != nil {
		return 0, err
	}
	return c.settled(ctx, &grace, r)
}

// Size implements transport.Link. It is known without asking once a segment has
// been used; news of a withdrawal arrive before the answer to any later Flush.
func (l *link) Size(id segment.ID) (uint64, uint32, error) {
	r, err := l.remote(id, l.quiet())
	if err != nil {
		return 0, 0, err
	}
	return r.size, r.notifications, nil
}

// Mapped implements transport.Link: there is no such memory.
func (l *link) Mapped(transport.Addr, uint64) (segment.Span, bool) { return segment.Span{}, false }

// Flush implements transport.Link. It returns too what the peer refused of the
// puts before.
func (l *link) Flush(ctx context.Context, q *transport.Queue) error {
	if err := l.gone(); err != nil {
		return err
	}
	c := l.lanes[q.Lane()%uint32(len(l.lanes))].conn.Load()
	if c == nil { // so nothing was put there
		return nil
	}
	if err := c.consult(ctx, new(request), &frame{kind: kindFlush}); err != nil {
		return err
	}
	c.out.mu.Lock()
	refused := c.out.tags.taken(q)
	c.out.mu.Unlock()
	if refused != nil && q.Forget(refused) {
		return refused
	}
	return nil
}

// Ping implements transport.Link. The peer's transport answers, whatever its
// program does.
func (l *link) Ping(ctx context.Context) error {
	if err := l.gone(); err != nil {
		return err
	}
	c, err := l.conn(ctx, l.quiet())
	if err != nil {
		return err
	}
	return c.consult(ctx, new(request), &frame{kind: kindFlush})
}

// quiet is the number of a lane that is open and has nothing to send, or 0.
func (l *link) quiet() uint32 {
	for i := range l.lanes {
		if c := l.lanes[i].conn.Load(); c != nil && !c.out.armed.Load() {
			return uint32(i)
		}
	}
	return 0
}
