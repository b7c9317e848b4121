package gaspi

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/trace"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// This file is hot: between the program and the peer's memory lie the checks of
// one transfer, one entry of the queue, and the link. No allocation, no lock, no
// system call unless the peer sleeps.

// Write copies src to dst. It does not block: it borrows src until the next
// successful Wait on the queue. It is not ordered against any other write. If
// the queue is full it returns ErrQueueFull and has had no effect. With an empty
// src it moves nothing and takes no entry of the queue; dst must lie in a segment
// all the same, or at its end.
func (q *Queue) Write(dst Remote, src Span) error {
	w := q.near(dst, src)
	if w == nil || src.Len() == 0 || !w.Holds(dst.Offset, src.Len()) || q.timeline != nil {
		return q.writeSlow(dst, src)
	}
	if !q.take(dst.Rank, 1) {
		return q.full(dst.Rank)
	}
	w.Put(dst.Offset, src)
	if moved := &q.counts.made(dst.Rank).writes; q.plain {
		moved.Add(src.Len())
	} else {
		moved.AddSerialized(src.Len())
	}
	return nil
}

// writeSlow is Write that near has nothing for, or that is recorded.
func (q *Queue) writeSlow(dst Remote, src Span) error {
	way, err := q.enter(dst, src)
	if err != nil {
		return q.refused("write", dst, src.Len(), err)
	}
	if src.Len() == 0 {
		return q.empty("write", dst, way.Put(q.traffic, dst.addr(), src))
	}
	if !q.take(dst.Rank, 1) {
		return q.full(dst.Rank)
	}
	begun := q.timeline.BeginMove(src.Len())
	if err := way.Put(q.traffic, dst.addr(), src); err != nil {
		return q.refused("write", dst, src.Len(), err)
	}
	q.counts.at(dst.Rank).writes.Add(src.Len())
	q.recordMove(trace.Write, begun, dst.Rank, src.Len())
	q.remember(dst, way)
	return nil
}

// WriteNotify copies src to dst and then posts n in the same segment there.
// A rank that sees the notification sees the data; nothing else is ordered, not even earlier
// writes of the same queue. Otherwise it is like Write. With an empty src it only notifies.
func (q *Queue) WriteNotify(dst Remote, src Span, n Notification) error {
	w := q.near(dst, src)
	if w == nil || n.Add || !w.Holds(dst.Offset, src.Len()) || !w.Takes(n.ID, n.Value) {
		return q.writeNotifySlow("write_notify", dst, src, dst.Segment, n)
	}
	if !q.take(dst.Rank, 1) {
		return q.full(dst.Rank)
	}
	if !q.plain {
		begun := q.timeline.BeginMove(src.Len())
		w.PutRelease(dst.Offset, src, n.ID, n.Value)
		q.released(w, dst.Rank, src.Len())
		if q.timeline != nil {
			q.recordPost(trace.WriteNotify, begun, dst, dst.Segment, n, src.Len())
		}
		return nil
	}
	w.PutRelease(dst.Offset, src, n.ID, n.Value)
	q.counts.made(dst.Rank).writes.Add(src.Len()) // also the barrier before the look for sleepers
	w.WakeSleepers()
	return nil
}

// released counts a write with a notification on a queue that is not plain, and wakes those who sleep there.
func (q *Queue) released(w *transport.Window, to Rank, bytes uint64) {
	if moved := &q.counts.made(to).writes; q.traffic.Serialized() && w.Fenced() {
		moved.AddSerialized(bytes)
	} else {
		moved.Add(bytes)
	}
	w.WakeSleepers()
}

// writeNotifySlow is WriteNotify for another segment than the last, for peers whose memory
// cannot be addressed, for a notification in another segment than that of dst, and for what
// cannot be done. op is the call's name in errors.
func (q *Queue) writeNotifySlow(op string, dst Remote, src Span, id SegmentID, n Notification) error {
	way, err := q.enter(dst, src)
	if err == nil && uint64(id) >= uint64(q.p.cfg.Segments) {
		err = q.p.badSegment()
	}
	if err != nil {
		return q.refused(op, dst, src.Len(), err)
	}
	if !q.take(dst.Rank, 1) {
		return q.full(dst.Rank)
	}
	begun := q.timeline.Begin()
	if err := way.PutNotify(q.traffic, dst.addr(), src, n.flag(id)); err != nil {
		return q.refused(op, dst, src.Len(), err)
	}
	q.counts.at(dst.Rank).writes.Add(src.Len())
	q.recordPost(trace.WriteNotify, begun, dst, id, n, src.Len())
	if id == dst.Segment {
		q.remember(dst, way)
	}
	return nil
}

// WriteNotifyIn is WriteNotify whose notification is posted in segment id of the same
// rank, whichever that of dst is. An extension of the standard: memory of one segment
// with the notifications of another costs one message where ranks share no memory.
func (q *Queue) WriteNotifyIn(dst Remote, src Span, id SegmentID, n Notification) error {
	if id == dst.Segment {
		return q.WriteNotify(dst, src, n)
	}
	return q.writeNotifySlow("write_notify", dst, src, id, n)
}

// Read copies src, at another rank, to dst. It does not block: dst is filled
// once the next Wait on the queue has returned. It is not ordered against any
// other operation. If the queue is full it returns ErrQueueFull and has had no
// effect. With an empty dst it moves nothing and takes no entry of the queue; src
// must lie in a segment all the same, or at its end.
func (q *Queue) Read(dst Span, src Remote) error {
	w := q.near(src, dst)
	if w == nil || dst.Len() == 0 || !w.Holds(src.Offset, dst.Len()) || q.timeline != nil {
		return q.readSlow(dst, src)
	}
	if !q.take(src.Rank, 1) {
		return q.full(src.Rank)
	}
	w.Get(dst, src.Offset)
	q.counts.made(src.Rank).reads.Add(dst.Len())
	return nil
}

// readSlow is Read that near has nothing for, or that is recorded.
func (q *Queue) readSlow(dst Span, src Remote) error {
	way, err := q.enter(src, dst)
	if err != nil {
		return q.refused("read", src, dst.Len(), err)
	}
	if dst.Len() == 0 {
		return q.empty("read", src, way.Get(q.traffic, dst, src.addr()))
	}
	if !q.take(src.Rank, 1) {
		return q.full(src.Rank)
	}
	begun := q.timeline.BeginMove(dst.Len())
	if err := way.Get(q.traffic, dst, src.addr()); err != nil {
		return q.refused("read", src, dst.Len(), err)
	}
	q.counts.at(src.Rank).reads.Add(dst.Len())
	q.recordMove(trace.Read, begun, src.Rank, dst.Len())
	q.remember(src, way)
	return nil
}

// ReadNotify is Read, and then posts n in the local segment of dst: whoever sees
// it there sees the data, without a Wait. (The standard always posts the value
// 1.) With an empty dst it only notifies; dst must be of a segment all the same.
func (q *Queue) ReadNotify(dst Span, src Remote, n Notification) error {
	way, err := q.enter(src, dst)
	if err == nil && dst.Segment() == nil {
		err = ErrNoSegment
	}
	if err == nil {
		err = dst.Segment().Notifications().Check(n.ID, n.Value)
	}
	if err != nil {
		return q.refused("read_notify", src, dst.Len(), err)
	}
	if !q.take(src.Rank, 1) {
		return q.full(src.Rank)
	}
	begun := q.timeline.BeginMove(dst.Len())
	if err := way.GetNotify(q.traffic, dst, src.addr(), dst.Segment().Notifications(), n.flag(0)); err != nil {
		return q.refused("read_notify", src, dst.Len(), err)
	}
	q.counts.at(src.Rank).reads.Add(dst.Len())
	q.recordMove(trace.ReadNotify, begun, src.Rank, dst.Len())
	return nil
}

// Notify posts n in the segment dst names, at its rank; the offset is not used.
// It comes after all writes and notifications that were issued before it on this
// queue to the same rank: whoever sees it sees them.
func (q *Queue) Notify(dst Remote, n Notification) error {
	w := q.near(dst, Span{})
	if w == nil || n.Add || !w.Takes(n.ID, n.Value) || q.timeline != nil {
		return q.notifySlow(dst, n)
	}
	if !q.take(dst.Rank, 1) {
		return q.full(dst.Rank)
	}
	w.Post(n.ID, n.Value, &q.counts.made(dst.Rank).notifies, !q.plain)
	return nil
}

// notifySlow is Notify that near has nothing for, that adds, or that is recorded.
func (q *Queue) notifySlow(dst Remote, n Notification) error {
	way, err := q.enter(dst, Span{})
	if err != nil {
		return q.refused("notify", dst, 0, err)
	}
	if !q.take(dst.Rank, 1) {
		return q.full(dst.Rank)
	}
	begun := q.timeline.Begin()
	if err := way.Notify(q.traffic, n.flag(dst.Segment)); err != nil {
		return q.refused("notify", dst, 0, err)
	}
	q.counts.at(dst.Rank).notifies.Add(1)
	q.recordPost(trace.Notify, begun, dst, dst.Segment, n, 0)
	q.remember(dst, way)
	return nil
}

// near returns the window that an operation between local and an address goes through without a look at its
// route, nil if there is none or it would be refused: one that an earlier operation has left, which spares
// five hops from queue to memory. The latency of small messages is decided here and in its callers.
func (q *Queue) near(at Remote, local Span) *transport.Window {
	w := q.last.of(at).Load()
	if w == nil || !w.On(at.Rank, at.Segment) || q.barred(local) {
		return nil
	}
	return w
}

// remember makes near return the window that an operation has gone through, if it went through one. Its
// counts have been made.
func (q *Queue) remember(at Remote, way *route) {
	if way.direct == nil {
		return
	}
	w := way.direct.Usable(at.Segment)
	if w != nil && q.traffic.Serialized() {
		w.AskForFences()
	}
	q.last.of(at).Store(w)
}

// enter checks what every operation of a queue checks and returns the way to the
// rank of an address.
func (q *Queue) enter(at Remote, local Span) (*route, error) {
	if q.deleted.Load() {
		return nil, ErrClosed
	}
	return q.p.enter(at, local)
}

// barred reports whether something stands against any operation from local.
func (q *Queue) barred(local Span) bool {
	s := local.Segment()
	return s != nil && s.Closed() || local.Len() > q.p.cfg.TransferMax || q.deleted.Load() || q.p.closed.Load()
}

// enter is Queue.enter without the queue.
func (p *Proc) enter(at Remote, local Span) (*route, error) {
	way, err := p.reach(at)
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
	return way, nil
}

// reach is the way to the rank of an address that the program gave. The runtime's
// own segment lies above the program's ids, and only the runtime may name it.
func (p *Proc) reach(at Remote) (*route, error) {
	if uint64(at.Segment) >= uint64(p.cfg.Segments) {
		return nil, p.badSegment()
	}
	return p.route(at.Rank)
}

// A route is the link to a rank, and where its memory can be addressed also that,
// which spares the most frequent operation a call through the interface.
type route struct {
	transport.Link
	direct *transport.Direct // nil if there is none
}

// route is the way to rank r. Hot once it has been used.
func (p *Proc) route(r Rank) (*route, error) {
	if uint(r) < uint(len(p.links)) {
		if way := p.links[r].Load(); way != nil {
			return way, nil
		}
	}
	return p.routeSlow(r)
}

func (p *Proc) routeSlow(r Rank) (*route, error) {
	if r < 0 || int(r) >= p.size {
		return nil, p.badRank(r)
	}
	l, err := p.wire.Link(r)
	if err != nil {
		return nil, err
	}
	way := &route{Link: l}
	if mapped, ok := l.(interface{ Memory() *transport.Direct }); ok {
		way.direct = mapped.Memory()
	}
	p.links[r].Store(way)
	p.logRoute(r)
	return way, nil
}

// link is the link to rank r.
func (p *Proc) link(r Rank) (transport.Link, error) {
	way, err := p.route(r)
	if err != nil {
		return nil, err
	}
	return way.Link, nil
}

func (p *Proc) badRank(r Rank) error {
	return fmt.Errorf("%w: %d; ranks go from 0 to %d", ErrBadRank, r, p.size-1)
}

func (p *Proc) badSegment() error {
	return fmt.Errorf("%w: ids go from 0 to %d (Config.Segments)", ErrNoSegment, p.cfg.Segments-1)
}

// take takes n entries unless the operation is with the own rank. The caller returns full if it reports false.
func (q *Queue) take(r Rank, n int) bool { return r == q.p.rank || q.traffic.Take(uint64(n)) }

// full counts a post to a rank that was refused for want of room, and returns its error.
func (q *Queue) full(r Rank) error {
	q.counts.at(r).full.Add(1)
	return ErrQueueFull
}

// refused wraps the cause of an operation that was not issued, and takes note of
// a rank that is gone.
func (q *Queue) refused(op string, at Remote, n uint64, err error) error {
	return transferError(op, at, n, q.p.peers.Found(at.Rank, err))
}

// empty is the end of an operation that moves nothing and has no entry: the link has
// checked the address.
func (q *Queue) empty(op string, at Remote, err error) error {
	if err != nil {
		return q.refused(op, at, 0, err)
	}
	return nil
}

func (r Remote) addr() transport.Addr { return transport.Addr{Segment: r.Segment, Offset: r.Offset} }

func (n Notification) flag(s SegmentID) transport.Flag {
	return transport.Flag{Segment: s, ID: n.ID, Value: n.Value, Add: n.Add}
}
