package rdma

import (
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// This file is hot.

// flow is the flow control: the operations in flight on the fabric and those that wait for
// room. All of it is guarded by Transport.mu. A provider takes a bounded number of transfers, and its queue of
// completions has room for those; the rest waits here, link by link, in order.
type flow struct {
	table   []*op // index is the token of a piece in flight; nil where free
	free    []uint32
	waiting []*link // those with a backlog
	spare   *op     // to be used again
	dying   []*link // lost within a call that still has operations of theirs in hand
}

type opKind uint8

const (
	opWrite opKind = iota
	opRead
	opMessage
)

// An op is an operation that could not end within its call: the fabric reports its end,
// or it waits for room.
type op struct {
	transport.Op
	link  *link
	queue *transport.Queue // owns the operation; nil if there is none, or if it has ended for the queue
	kind  opKind
	next  *op // behind it in the backlog, or to be used again

	keep   segment.Span // the memory here
	mem    []byte
	region *memoryRegion  // of keep, in use; nil if none is needed
	to     *remoteSegment // in use; nil for messages
	note   *remoteSegment // in use; of data, which arrives behind the bytes; nil without
	offset uint64         // there
	posted uint64         // bytes
	full   bool           // everything has been posted, or nothing more will be
	open   int            // pieces in flight
	queued bool           // in the backlog of link
	fence  bool           // not before earlier writes are confirmed

	data    uint64
	message message
	err     error

	later *op // behind it among the reads of the link
	ended bool
	array *notify.Array // a read that has ended posts flag there
	flag  transport.Flag
}

func (f *flow) init(inFlight int) {
	f.table = make([]*op, inFlight)
	for i := range f.table {
		f.free = append(f.free, uint32(i))
	}
}

func (f *flow) newOp() *op {
	o := f.spare
	if o == nil {
		return new(op)
	}
	f.spare, o.next = o.next, nil
	return o
}

func (f *flow) recycle(o *op) { *o = op{next: f.spare}; f.spare = o }

// isIdleLocked reports whether nothing is under way.
func (f *flow) isIdleLocked() bool { return len(f.free) == len(f.table) && len(f.waiting) == 0 }

// submitLocked begins an operation: it counts in its queue until it has ended.
func (t *Transport) submitLocked(o *op) {
	l := o.link
	l.used = true
	if o.queue != nil {
		o.queue.Begin(&o.Op)
	}
	if o.to != nil {
		o.to.open++
	}
	if o.note != nil {
		o.note.open++
	}
	if o.region != nil {
		o.region.users++
	}
	if o.kind == opRead {
		if l.lastRead == nil {
			l.reads = o
		} else {
			l.lastRead.later = o
		}
		l.lastRead = o
	}
	if l.first == nil && t.pushLocked(o) {
		t.finishIfDoneLocked(o)
		return
	}
	l.appendLocked(o)
	if !l.listed {
		l.listed = true
		t.waiting = append(t.waiting, l)
	}
}

// pushLocked posts as much of o as the fabric takes and reports whether that was all. Then
// the operations behind o may follow, and the caller calls finishIfDoneLocked.
func (t *Transport) pushLocked(o *op) bool {
	l := o.link
	if gone := l.peer.Lost(); gone != nil && !(o.kind == opMessage && o.message.kind == kindByeAck) {
		o.giveUp(gone)
	}
	switch {
	case o.full:
		return true
	case !l.resolved.Load():
		l.startResolveLocked()
		return false
	case o.fence && l.unconfirmed > 0:
		return false
	case o.kind == opMessage:
		err := t.sendLocked(l, &o.message)
		if err != nil && err != errAgain {
			o.giveUp(err)
		}
		o.full = o.full || err == nil
		return o.full
	}
	for !o.full {
		if !t.pieceLocked(o) {
			return false
		}
	}
	return true
}

// giveUp ends the posting of o because of err.
func (o *op) giveUp(err error) {
	o.full = true
	if o.err == nil {
		o.err = err
	}
}

// appendLocked puts o at the end of the backlog.
func (l *link) appendLocked(o *op) {
	if l.first == nil {
		l.first = o
	} else {
		l.last.next = o
	}
	l.last, o.queued = o, true
}

// popLocked takes the first operation off the backlog.
func (l *link) popLocked() *op {
	o := l.first
	if l.first = o.next; l.first == nil {
		l.last = nil
	}
	o.next, o.queued = nil, false
	return o
}

// sendLocked sends a message.
func (t *Transport) sendLocked(l *link, m *message) error {
	m.secret, m.from = l.secret, uint32(t.cfg.Rank)
	m.put(&t.raw)
	err := t.fab.send(l.address, &t.raw)
	if err != nil && err != errAgain {
		return l.unreachableLocked(err)
	}
	return err
}

// pieceLocked posts the next piece of a transfer, and reports whether it could.
func (t *Transport) pieceLocked(o *op) bool {
	rest := uint64(len(o.mem)) - o.posted
	n := min(rest, t.mode.piece)
	if !t.fillLocked(o, n, n == rest) {
		return false
	}
	o.posted += n
	o.full = o.full || n == rest
	return true
}

// fillLocked posts n bytes of o from o.posted on.
func (t *Transport) fillLocked(o *op, n uint64, last bool) bool {
	x := &t.x
	*x = transfer{
		peer: o.link.address, local: o.mem[o.posted : o.posted+n], region: o.region,
		remote: o.to.base + o.offset + o.posted, key: o.to.key,
		data: o.data, withData: o.note != nil && last,
	}
	var err error
	if o.kind == opWrite && n <= uint64(t.traits.inject) && !t.mode.weak {
		err = t.fab.inject(x)
	} else {
		free := len(t.free) - 1
		if free < 0 {
			return false
		}
		x.token, x.confirmed = t.free[free], t.mode.weak
		if o.kind == opRead {
			err = t.fab.read(x)
		} else {
			err = t.fab.write(x)
		}
		if err == nil {
			t.free = t.free[:free]
			t.table[x.token] = o
			o.open++
			if t.mode.weak && o.kind == opWrite {
				o.link.unconfirmed++
			}
		}
	}
	switch err {
	case nil:
		return true
	case errAgain:
		return false
	}
	o.giveUp(o.link.unreachableLocked(err))
	return true
}

// sendControlLocked sends a message behind all earlier operations. It belongs to no queue.
func (l *link) sendControlLocked(m message) { l.queueMessageLocked(nil, m, false) }

// queueMessageLocked sends a message behind all earlier operations. It counts in q while it
// has to wait for room, if q is not nil.
func (l *link) queueMessageLocked(q *transport.Queue, m message, fence bool) {
	if (l.byeReceived || l.peer.Lost() != nil) && m.kind != kindByeAck { // a peer that closes waits for kindByeAck, the last message
		return
	}
	t := l.t
	l.used = true
	if l.first == nil && l.resolved.Load() && !(fence && l.unconfirmed > 0) && t.sendLocked(l, &m) != errAgain {
		return
	}
	o := t.newOp()
	o.link, o.queue, o.kind, o.message, o.fence = l, q, opMessage, m, fence
	t.submitLocked(o)
}

// dropLocked ends the whole backlog, and all requests, which are in it, since the peer cannot be found.
func (l *link) dropLocked(err error) {
	for l.first != nil {
		o := l.popLocked()
		o.giveUp(err)
		l.t.finishIfDoneLocked(o)
	}
	for _, r := range l.requests.Drain() {
		r.Complete(0, err)
	}
}

// retryLocked posts operations that wait for room. It reports whether any could be posted.
func (t *Transport) retryLocked() bool {
	moved := false
	for i := 0; i < len(t.waiting); i++ {
		l := t.waiting[i]
		for l.first != nil {
			before := l.first.posted
			done := t.pushLocked(l.first)
			moved = moved || done || l.first.posted != before
			if !done {
				break
			}
			t.finishIfDoneLocked(l.popLocked())
		}
		if l.first == nil {
			l.listed = false
			t.waiting = append(t.waiting[:i], t.waiting[i+1:]...)
			i--
		}
	}
	return moved
}
