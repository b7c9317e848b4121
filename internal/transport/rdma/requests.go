package rdma

import (
	"context"

	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
)

// A request is a message to a peer that has no reply yet, and whose caller blocks or did.
type request struct {
	remote.Call
	kind    messageKind
	number  uint32
	segment *remoteSegment // kindAttach: the reply
}

// send sends a request, behind all writes that were issued before.
func (l *link) send(r *request, m message) error {
	l.t.lock()
	defer l.t.unlock()
	if err := l.peer.Err(); err != nil {
		return err
	}
	r.kind = m.kind
	r.number = l.requests.Add(r)
	m.number = r.number
	l.queueMessageLocked(nil, m, l.t.mode.weak)
	return nil
}

// cancel drops r if it is still in the backlog, and reports whether it was.
func (l *link) cancel(r *request) bool {
	l.t.lock()
	defer l.t.unlock()
	if l.requests.Get(r.number) != r { // it has a reply, and the number may be another's
		return false
	}
	var before *op
	for o := l.first; o != nil; before, o = o, o.next {
		if o.kind != opMessage || o.message.kind != r.kind || o.message.number != r.number {
			continue
		}
		if before == nil {
			l.popLocked()
		} else {
			before.next, o.queued = o.next, false
			if l.last == o {
				l.last = before
			}
		}
		l.requests.Remove(r.number)
		o.full = true
		l.t.finishIfDoneLocked(o)
		return true
	}
	return false
}

// call sends a request and blocks until the reply arrives. Once ctx has ended the reply
// is dropped.
func (l *link) call(ctx context.Context, m message) error {
	r := new(request)
	if err := l.send(r, m); err != nil {
		return err
	}
	return r.Await(ctx, l.t.array, func() bool { return l.cancel(r) })
}
