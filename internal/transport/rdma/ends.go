package rdma

import "github.com/gaspi-go/gaspi-go/segment"

// This file is hot, but for failOperationsLocked and failLocked.

// endedLocked deals with the end of the piece that has token.
func (t *Transport) endedLocked(token uint32, err error) {
	if uint64(token) >= uint64(len(t.table)) || t.table[token] == nil {
		return // whose it was is not known, or it was an inject
	}
	o := t.table[token]
	t.table[token] = nil
	t.free = append(t.free, token)
	l := o.link
	o.open--
	if t.mode.weak && o.kind == opWrite {
		l.unconfirmed--
	}
	if err != nil {
		o.giveUp(l.unreachableLocked(err))
	}
	t.finishIfDoneLocked(o)
}

// finishIfDoneLocked ends an operation of which nothing waits any more and nothing is in
// flight. o may be another one afterwards.
func (t *Transport) finishIfDoneLocked(o *op) {
	if o.full && o.open == 0 && !o.queued && !o.ended {
		t.finishLocked(o)
	}
}

// finishLocked ends an operation: nothing of it is in flight. Reads end in the order
// in which they began, so that a notification behind one is behind all. A read fails only where
// the peer is lost, and then no notification is posted that may be behind it.
func (t *Transport) finishLocked(o *op) {
	if o.kind != opRead {
		t.retireLocked(o)
		return
	}
	o.ended = true
	l := o.link
	for l.reads != nil && l.reads.ended {
		o := l.reads
		if l.reads = o.later; l.reads == nil {
			l.lastRead = nil
		}
		if gone := l.peer.Lost(); gone != nil {
			o.giveUp(gone)
		}
		if o.err == nil && o.array != nil {
			o.flag.Post(o.array)
		}
		t.retireLocked(o)
	}
}

// retireLocked gives back the resources of an operation that has ended.
func (t *Transport) retireLocked(o *op) {
	if o.region != nil {
		t.memory.leaveLocked(o.region)
	}
	if o.to != nil {
		o.link.endUseLocked(o.to)
	}
	if o.note != nil {
		o.link.endUseLocked(o.note)
	}
	if o.queue != nil {
		o.queue.End(&o.Op, o.err)
	}
	t.recycle(o)
}

// endUseLocked records that an operation on a peer's segment has ended.
func (l *link) endUseLocked(r *remoteSegment) {
	if r.open--; r.open == 0 && r.dead {
		l.releaseLocked(r.id, r.Generation)
	}
}

// releaseLocked tells the peer that no operation of this side on a segment that it has
// withdrawn is under way.
func (l *link) releaseLocked(id segment.ID, generation uint64) {
	l.sendControlLocked(message{kind: kindReleased, segment: uint32(id), generation: generation})
}

// failOperationsLocked completes all operations of a lost link with the link's error. An
// operation that the fabric has accepted completes for its queue, but stays in the table,
// because the fabric reports its end later.
func (t *Transport) failOperationsLocked(l *link) {
	err := l.peer.Err()
	var last *op
	for l.first != nil {
		if o := l.popLocked(); o.message.kind == kindByeAck {
			last = o // there is only one
		} else {
			t.failLocked(o, err)
		}
	}
	if last != nil {
		l.appendLocked(last)
	}
	for _, o := range t.table {
		if o != nil && o.link == l {
			t.failLocked(o, err)
		}
	}
	for o := l.reads; o != nil; o = o.later { // those that have ended, behind one that is in flight
		t.failLocked(o, err)
	}
	for _, r := range l.requests.Drain() {
		r.Complete(0, err)
	}
	t.handleReleasedLocked(l.peer.Rank, 0)
}

// failLocked ends an operation for its queue.
func (t *Transport) failLocked(o *op, err error) {
	o.giveUp(err)
	if o.queue != nil {
		o.queue.End(&o.Op, o.err)
		o.queue = nil
	}
	t.finishIfDoneLocked(o)
}
