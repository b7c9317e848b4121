package rdma

import (
	"context"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// This file is hot: from here to the call of the fabric there is no allocation and
// one lock.

var (
	_ transport.Link     = (*link)(nil)
	_ transport.LateLink = (*link)(nil)
)

// enter returns the descriptor of the peer's segment id after it has checked that the
// bytes [offset, offset+n) lie in it. It leaves Transport.mu locked if there is no error.
func (l *link) enter(id segment.ID, offset, n uint64) (*remoteSegment, error) {
	for {
		to, err := l.segment(id)
		if err == nil {
			err = to.Check(offset, n)
		}
		if err != nil {
			return nil, err
		}
		l.t.lock()
		if gone := l.peer.Err(); gone != nil {
			l.t.unlock()
			return nil, gone
		}
		if !to.dead {
			return to, nil
		}
		l.t.unlock() // withdrawn since: it may be there anew
	}
}

// Put implements transport.Link.
func (l *link) Put(q *transport.Queue, dst transport.Addr, src segment.Span) error {
	to, err := l.enter(dst.Segment, dst.Offset, src.Len())
	if err != nil {
		return err
	}
	defer l.t.unlock()
	if src.Len() == 0 {
		return nil
	}
	return l.writeLocked(q, to, dst.Offset, src, nil, 0, false)
}

// PutNotify implements transport.Link.
func (l *link) PutNotify(q *transport.Queue, dst transport.Addr, src segment.Span, f transport.Flag) error {
	note, to, err := l.enterBoth(dst, src.Len(), f)
	if err != nil {
		return err
	}
	defer l.t.unlock()
	mode := &l.t.mode
	data, fits := mode.packed(note, f)
	if fits && !(mode.weak && src.Len() > mode.piece) {
		return l.writeLocked(q, to, dst.Offset, src, note, data, false)
	}
	if src.Len() > 0 {
		if err := l.writeLocked(q, to, dst.Offset, src, nil, 0, false); err != nil {
			return err
		}
	}
	return l.notifyLocked(q, note, f)
}

// enterBoth is enter for a segment and for the segment of a flag, which it returns first.
func (l *link) enterBoth(dst transport.Addr, n uint64, f transport.Flag) (note, to *remoteSegment, err error) {
	for {
		if note, err = l.segment(f.Segment); err != nil {
			return nil, nil, err
		}
		if to, err = l.enter(dst.Segment, dst.Offset, n); err != nil {
			return nil, nil, err
		}
		if note.dead {
			l.t.unlock()
			continue
		}
		if err := note.CheckFlag(f); err != nil {
			l.t.unlock()
			return nil, nil, err
		}
		return note, to, nil
	}
}

// Notify implements transport.Link.
func (l *link) Notify(q *transport.Queue, f transport.Flag) error {
	note, err := l.enter(f.Segment, 0, 0)
	if err != nil {
		return err
	}
	defer l.t.unlock()
	if err := note.CheckFlag(f); err != nil {
		return err
	}
	return l.notifyLocked(q, note, f)
}

// Generation implements transport.LateLink.
func (l *link) Generation(_ *transport.Queue, id segment.ID) (uint64, error) {
	r, err := l.segment(id)
	if err != nil {
		return 0, err
	}
	return r.Generation, nil
}

// NotifyLate implements transport.LateLink.
func (l *link) NotifyLate(q *transport.Queue, f transport.Flag, generation uint64) error {
	note, err := l.enter(f.Segment, 0, 0)
	if err != nil {
		return err
	}
	defer l.t.unlock()
	if note.Generation != generation {
		return transport.ErrorOfWithdrawn(l.peer.Rank, f.Segment)
	}
	return l.notifyLocked(q, note, f)
}

// notifyLocked posts a flag behind all writes before: as the data of an empty write
// if it fits, or as a message.
func (l *link) notifyLocked(q *transport.Queue, note *remoteSegment, f transport.Flag) error {
	weak := l.t.mode.weak
	if data, fits := l.t.mode.packed(note, f); fits {
		return l.writeLocked(q, note, 0, segment.Span{}, note, data, weak)
	}
	m := message{
		kind: kindNotify, segment: uint32(f.Segment), generation: note.Generation,
		a: remote.PackFlag(f),
	}
	if f.Add {
		m.code = 1
	}
	l.queueMessageLocked(q, m, weak)
	return l.peer.Err()
}

// writeLocked issues a write, whose data is a notification of note, unless that is nil. Small ones are gone
// when it returns.
func (l *link) writeLocked(q *transport.Queue, to *remoteSegment, offset uint64, src segment.Span, note *remoteSegment, data uint64, fence bool) error {
	t := l.t
	mem := src.Bytes()
	if l.first == nil && len(mem) <= t.traits.inject && !t.mode.weak {
		l.used = true
		t.x = transfer{peer: l.address, local: mem, remote: to.base + offset, key: to.key, data: data, withData: note != nil}
		err := t.fab.inject(&t.x)
		if err == nil {
			return nil
		}
		if err != errAgain {
			return l.unreachableLocked(err)
		}
	}
	region, err := t.localLocked(src)
	if err != nil {
		return err
	}
	o := t.newOp()
	o.link, o.queue, o.kind, o.to, o.offset, o.fence = l, q, opWrite, to, offset, fence
	o.keep, o.mem, o.region, o.note, o.data = src, mem, region, note, data
	t.submitLocked(o)
	return nil
}

// localLocked returns the memory region that contains x, nil where none is needed.
func (t *Transport) localLocked(x segment.Span) (*memoryRegion, error) {
	if !t.traits.localKeys || x.Len() == 0 {
		return nil, nil
	}
	return t.memory.ofLocked(x.Segment())
}

// Get implements transport.Link.
func (l *link) Get(q *transport.Queue, dst segment.Span, src transport.Addr) error {
	return l.get(q, dst, src, nil, transport.Flag{})
}

// GetNotify implements transport.Link.
func (l *link) GetNotify(q *transport.Queue, dst segment.Span, src transport.Addr, b *notify.Array, f transport.Flag) error {
	if dst.Len() > 0 {
		return l.get(q, dst, src, b, f)
	}
	if _, err := l.enter(src.Segment, src.Offset, 0); err != nil {
		return err
	}
	defer l.t.unlock()
	if l.reads == nil {
		f.Post(b)
		return l.peer.Err()
	}
	o := l.t.newOp()
	o.link, o.queue, o.kind, o.array, o.flag, o.full = l, q, opRead, b, f, true
	l.t.submitLocked(o)
	return nil
}

func (l *link) get(q *transport.Queue, dst segment.Span, src transport.Addr, b *notify.Array, f transport.Flag) error {
	from, err := l.enter(src.Segment, src.Offset, dst.Len())
	if err != nil {
		return err
	}
	t := l.t
	defer t.unlock()
	if dst.Len() == 0 {
		return nil
	}
	region, err := t.localLocked(dst)
	if err != nil {
		return err
	}
	o := t.newOp()
	o.link, o.queue, o.kind, o.to, o.offset = l, q, opRead, from, src.Offset
	o.keep, o.mem, o.region, o.array, o.flag = dst, dst.Bytes(), region, b, f
	t.submitLocked(o)
	return nil
}

// Atomic implements transport.Link: the owner's processor does it, so that it is
// atomic with the owner's own.
func (l *link) Atomic(ctx context.Context, at transport.Addr, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	var grace transport.Grace
	to, err := l.known(at.Segment)
	if to == nil && err == nil {
		to, err = l.attach(ctx, &grace, at.Segment)
	}
	if err != nil {
		return 0, err
	}
	if err := to.CheckWord(at.Offset); err != nil {
		return 0, err
	}
	r := new(request)
	if err := l.send(r, message{
		kind: kindAtomic, code: uint8(op), segment: uint32(at.Segment), generation: to.Generation,
		a: operand, b: compare, c: at.Offset,
	}); err != nil {
		return 0, err
	}
	return r.AwaitValue(ctx, &grace, l.t.array, func() bool { return l.cancel(r) })
}

// Size implements transport.Link. It is known without asking once a segment has been
// used, until the peer withdraws it.
func (l *link) Size(id segment.ID) (uint64, uint32, error) {
	r, err := l.segment(id)
	if err != nil {
		return 0, 0, err
	}
	return r.Size, r.Notifications, nil
}

// Mapped implements transport.Link: there is no such memory.
func (l *link) Mapped(transport.Addr, uint64) (segment.Span, bool) { return segment.Span{}, false }

// Flush implements transport.Link. The reply of the peer follows all earlier writes.
func (l *link) Flush(ctx context.Context, _ *transport.Queue) error {
	if err := l.peer.Err(); err != nil {
		return err
	}
	l.t.lock()
	used := l.used
	l.t.unlock()
	if !used { // so nothing was put
		return nil
	}
	return l.call(ctx, message{kind: kindFlush})
}

// Ping implements transport.Link. The peer's transport replies, whatever its program does.
func (l *link) Ping(ctx context.Context) error {
	if err := l.peer.Err(); err != nil {
		return err
	}
	if err := l.resolve(ctx); err != nil {
		return err
	}
	return l.call(ctx, message{kind: kindFlush})
}
