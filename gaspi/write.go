package gaspi

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// This file is hot: between the program and the peer's memory lie the checks of
// one transfer, one entry of the queue, and the link. No allocation, no lock, no
// system call unless the peer sleeps.

// Write copies src to dst. It does not block: it borrows src until the next
// successful Wait on the queue. It is not ordered against any other write. If
// the queue is full it returns ErrQueueFull and has had no effect.
func (q *Queue) Write(dst Remote, src Span) error {
	link, err := q.enter(dst.Rank, src)
	if err != nil {
		return q.refused("write", dst, src.Len(), err)
	}
	if src.Len() == 0 {
		return nil
	}
	if !q.take(dst.Rank, 1) {
		return ErrQueueFull
	}
	if err := link.Put(q.traffic, dst.addr(), src); err != nil {
		return q.refused("write", dst, src.Len(), err)
	}
	q.writes.Add(1)
	q.written.Add(src.Len())
	return nil
}

// WriteNotify copies src to dst and then posts n in the same segment there.
// Whoever sees the notification sees the data; nothing else is ordered, not even
// earlier writes of the same queue. Otherwise it is like Write. With an empty
// src it only notifies.
func (q *Queue) WriteNotify(dst Remote, src Span, n Notification) error {
	way := q.usual(dst.Rank, src)
	if way == nil || way.direct == nil {
		return q.writeNotifySlow(dst, src, n)
	}
	if dst.Rank != q.p.rank && !q.traffic.Take(1) {
		return ErrQueueFull
	}
	w := way.direct.Usable(dst.Segment)
	if w == nil || !w.PutNotify(dst.Offset, src, n.flag(dst.Segment)) {
		if err := way.link.PutNotify(q.traffic, dst.addr(), src, n.flag(dst.Segment)); err != nil {
			return q.refused("write_notify", dst, src.Len(), err)
		}
	}
	q.writes.Add(1)
	q.written.Add(src.Len())
	return nil
}

// writeNotifySlow is WriteNotify for the first operation with a rank, for peers
// whose memory cannot be addressed, and for what cannot be done.
func (q *Queue) writeNotifySlow(dst Remote, src Span, n Notification) error {
	link, err := q.enter(dst.Rank, src)
	if err != nil {
		return q.refused("write_notify", dst, src.Len(), err)
	}
	if !q.take(dst.Rank, 1) {
		return ErrQueueFull
	}
	if err := link.PutNotify(q.traffic, dst.addr(), src, n.flag(dst.Segment)); err != nil {
		return q.refused("write_notify", dst, src.Len(), err)
	}
	q.writes.Add(1)
	q.written.Add(src.Len())
	return nil
}

// Notify posts n in the segment dst names, at its rank; the offset is not used.
// It comes after all writes that were issued before it on this queue to the same
// rank: whoever sees it sees them.
func (q *Queue) Notify(dst Remote, n Notification) error {
	link, err := q.enter(dst.Rank, Span{})
	if err != nil {
		return q.refused("notify", dst, 0, err)
	}
	if !q.take(dst.Rank, 1) {
		return ErrQueueFull
	}
	if err := link.Notify(q.traffic, n.flag(dst.Segment)); err != nil {
		return q.refused("notify", dst, 0, err)
	}
	q.notifies.Add(1)
	return nil
}

// enter checks what every operation checks and returns the link.
func (q *Queue) enter(r Rank, local Span) (transport.Link, error) {
	if way := q.usual(r, local); way != nil {
		return way.link, nil
	}
	return q.enterSlow(r, local)
}

// usual is the route to a rank that was used before, or nil if anything stands
// against an operation from local.
func (q *Queue) usual(r Rank, local Span) *route {
	p, s := q.p, local.Segment()
	if uint(r) >= uint(len(p.links)) || local.Len() > p.cfg.TransferMax || s != nil && s.Closed() || q.deleted.Load() || p.closed.Load() {
		return nil
	}
	return p.links[r].Load()
}

// enterSlow is enter for the first operation with a rank, and for what cannot
// be done.
func (q *Queue) enterSlow(r Rank, local Span) (transport.Link, error) {
	if q.deleted.Load() {
		return nil, ErrClosed
	}
	return q.p.enter(r, local)
}

// enter is Queue.enter without the queue.
func (p *Proc) enter(r Rank, local Span) (transport.Link, error) {
	link, err := p.link(r)
	if err != nil {
		return nil, err
	}
	if p.closed.Load() {
		return nil, ErrClosed
	}
	if s := local.Segment(); s != nil && s.Closed() {
		return nil, fmt.Errorf("local segment: %w", ErrClosed)
	}
	if local.Len() > p.cfg.TransferMax {
		return nil, fmt.Errorf("%w: %d bytes; Config.TransferMax is %d", ErrTooLarge, local.Len(), p.cfg.TransferMax)
	}
	return link, nil
}

// take takes n entries unless the operation is with the own rank.
func (q *Queue) take(r Rank, n int) bool {
	return r == q.p.rank || q.traffic.Take(uint64(n))
}

// refused wraps the cause of an operation that was not issued, and takes note of
// a rank that is gone.
func (q *Queue) refused(op string, at Remote, n uint64, err error) error {
	return transferError(op, at, n, q.p.faultIn(at.Rank, err))
}

// faultIn is fault for a rank that may not exist.
func (p *Proc) faultIn(r Rank, err error) error {
	if r < 0 || int(r) >= p.size {
		return err
	}
	return p.fault(r, err)
}

func (r Remote) addr() transport.Addr { return transport.Addr{Segment: r.Segment, Offset: r.Offset} }

func (n Notification) flag(s SegmentID) transport.Flag {
	return transport.Flag{Segment: s, ID: n.ID, Value: n.Value, Add: n.Add}
}
