package rdma

import "github.com/gaspi-go/gaspi-go/segment"

// This file is hot, but for what is lost.

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
	if t.course.weak && o.kind == opWrite {
		l.unconfirmed--
	}
	if err != nil {
		o.giveUp(l.unreachableLocked(err))
	}
	t.concludeLocked(o)
}

// concludeLocked ends an operation of which nothing waits any more and nothing is in
// flight. o may be another one afterwards.
func (t *Transport) concludeLocked(o *op) {
	if o.full && o.open == 0 && !o.queued && !o.ended {
		t.finishLocked(o)
	}
}

// finishLocked ends an operation: nothing of it is in flight. Reads end in the order
// in which they began, so that a notification behind one is behind all.
func (t *Transport) finishLocked(o *op) {
	if o.kind != opRead {
		t.settleLocked(o)
		return
	}
	o.ended = true
	l := o.link
	for l.gets != nil && l.gets.ended {
		o := l.gets
		if l.gets = o.later; l.gets == nil {
			l.newest = nil
		}
		if o.err == nil && o.board != nil {
			o.flag.Post(o.board)
		}
		t.settleLocked(o)
	}
}

// settleLocked gives back what an operation that has ended had in use.
func (t *Transport) settleLocked(o *op) {
	if o.region != nil {
		t.regions.leaveLocked(o.region)
	}
	if o.to != nil {
		o.link.leaveLocked(o.to)
	}
	if o.queue != nil {
		o.queue.End(&o.Op, o.err)
	}
	t.recycle(o)
}

// leaveLocked says that an operation with a peer's segment has ended.
func (l *link) leaveLocked(r *remote) {
	if r.open--; r.open == 0 && r.dead {
		l.releaseLocked(r.id, r.generation)
	}
}

// releaseLocked tells the peer that nothing of this side is on its way to a segment
// that it has withdrawn.
func (l *link) releaseLocked(id segment.ID, generation uint64) {
	l.tellLocked(message{kind: kindReleased, segment: uint32(id), generation: generation})
}

// abandonLocked ends all operations of a link that is lost. What is in flight is
// ended for its queue, but not forgotten: the fabric still tells its end.
func (t *Transport) abandonLocked(l *link) {
	err := l.gone()
	var last *op
	for l.first != nil {
		if o := l.popLocked(); o.message.kind == kindByeHeard {
			last = o // there is only one
		} else {
			t.cutLocked(o, err)
		}
	}
	if last != nil {
		l.appendLocked(last)
	}
	for _, o := range t.table {
		if o != nil && o.link == l {
			t.cutLocked(o, err)
		}
	}
	for o := l.gets; o != nil; o = o.later { // those that have ended, behind one that is in flight
		t.cutLocked(o, err)
	}
	for _, q := range l.asked.empty() {
		q.err = err
		q.done.Store(true)
	}
	t.releasedLocked(l.rank, 0)
}

// cutLocked ends an operation for its queue.
func (t *Transport) cutLocked(o *op, err error) {
	o.giveUp(err)
	if o.queue != nil {
		o.queue.End(&o.Op, o.err)
		o.queue = nil
	}
	t.concludeLocked(o)
}
