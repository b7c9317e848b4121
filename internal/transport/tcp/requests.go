package tcp

import (
	"context"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// pendingMost is the number of requests of a connection that may be pending; more wait
// here. It bounds the replies that a peer has to keep.
const pendingMost = 1024

// repliesMost is the number of replies that a peer may leave unread. A peer that keeps
// to pendingMost never comes near it, refusals of puts included.
const repliesMost = 8 * pendingMost

// A request is a message to a peer that has no reply yet: of a caller that blocks
// (Call), or of an operation of a queue (queue is not nil).
type request struct {
	remote.Call
	op    transport.Op
	queue *transport.Queue // owns the operation; nil if a caller blocks
	kind  frameKind
	next  *request // in the list of unsent requests, or of those to be used again
	frame frame    // kept while the request is unsent
	after *request // a notification that ends when this request has ended

	dst      []byte       // kindGet: destination
	keep     segment.Span // contains dst
	received uint64       // bytes of dst
	array    *notify.Array
	flag     transport.Flag // posted on array at the end, if array is not nil

	segment *remote.Descriptor // kindAttach: the reply
}

// requests are the requests of one connection.
type requests struct {
	pending       remote.Pending[request]
	first, unsent *request // first and last that wait for a number
	spare         *request // to be used again
	newestGet     *request // the newest pending or unsent kindGet
}

// requestLocked makes a request for an operation of a queue.
func (o *outbox) requestLocked() *request {
	r := o.requests.spare
	if r == nil {
		return new(request)
	}
	o.requests.spare, r.next = r.next, nil
	return r
}

// recycleLocked takes back a request that requestLocked made.
func (o *outbox) recycleLocked(r *request) {
	*r = request{next: o.requests.spare}
	o.requests.spare = r
}

// remove takes a request out of the table.
func (s *requests) remove(number uint32) {
	if s.newestGet == s.pending.Get(number) {
		s.newestGet = nil
	}
	s.pending.Remove(number)
}

// drain takes all requests out.
func (s *requests) drain() []*request {
	all := s.pending.Drain()
	for r := s.first; r != nil; r = r.next {
		all = append(all, r)
	}
	*s = requests{}
	return all
}

// send sends a request, or queues it behind unsent ones.
func (c *conn) send(r *request, f *frame) error {
	c.out.mu.Lock()
	return c.sendAndUnlock(r, f)
}

func (c *conn) sendAndUnlock(r *request, f *frame) error {
	o := &c.out
	if o.ended != nil {
		o.mu.Unlock()
		return c.link.peer.Err()
	}
	if r.queue != nil {
		r.queue.Begin(&r.op)
	}
	r.kind = f.kind
	if f.kind == kindGet {
		o.requests.newestGet = r
	}
	if o.requests.pending.Len() == pendingMost {
		o.requests.queue(r, f)
		o.mu.Unlock()
		return nil
	}
	number := o.requests.pending.Add(r)
	f.number = number
	f.put(&o.head)
	_, errno := o.passLocked(nil)
	if errno == 0 {
		o.mu.Unlock()
		return nil
	}
	o.requests.remove(number)
	if r.queue != nil {
		r.queue.End(&r.op, nil) // the error goes to the caller
	}
	o.mu.Unlock()
	return c.sendFailed(errno)
}

// queue appends r to the unsent requests.
func (s *requests) queue(r *request, f *frame) {
	r.frame, r.next = *f, nil
	if s.first == nil {
		s.first = r
	} else {
		s.unsent.next = r
	}
	s.unsent = r
}

// removeLocked takes a request out of the table and sends the first unsent one.
func (o *outbox) removeLocked(number uint32) {
	o.requests.remove(number)
	r := o.requests.first
	if r == nil {
		return
	}
	o.requests.first, r.next = r.next, nil
	r.frame.number = o.requests.pending.Add(r)
	r.frame.put(&o.head)
	_, _ = o.passLocked(nil) // whoever receives notices an error
}

// notifyAfterGets posts a notification once all earlier gets have ended, unless the peer has refused
// one of the same queue whose failure the queue has not told of.
func (c *conn) notifyAfterGets(q *transport.Queue, b *notify.Array, flag transport.Flag) error {
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.requests.newestGet
	switch {
	case o.ended != nil:
		return c.link.peer.Err()
	case last == nil:
		if !o.queueIDs.hasRefusedGet(q) {
			flag.Post(b)
		}
		return nil
	}
	for last.after != nil {
		last = last.after
	}
	last.after = &request{queue: q, array: b, flag: flag}
	q.Begin(&last.after.op)
	return nil
}

// finish ends a request, which is in no table any more. value is the old value of an
// atomic.
func (l *link) finish(r *request, value uint64, err error) {
	if r.after != nil {
		defer l.finish(r.after, 0, err)
	}
	if r.queue == nil {
		r.Complete(value, err)
		l.array.WakeSleepers()
		return
	}
	if err == nil && r.array != nil {
		r.flag.Post(r.array)
	}
	r.queue.End(&r.op, err)
}

// cancel drops r if it is unsent, and reports whether it was.
func (c *conn) cancel(r *request) bool {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	s := &c.out.requests
	var before *request
	for at := s.first; at != nil; before, at = at, at.next {
		if at != r {
			continue
		}
		if before == nil {
			s.first = r.next
		} else {
			before.next = r.next
		}
		if s.unsent == r {
			s.unsent = before
		}
		return true
	}
	return false
}

// call sends a request and blocks until the reply arrives. Once ctx has ended the reply
// is dropped.
func (c *conn) call(ctx context.Context, f *frame) error {
	r := new(request)
	if err := c.send(r, f); err != nil {
		return err
	}
	return r.Await(ctx, c.link.array, func() bool { return c.cancel(r) })
}
