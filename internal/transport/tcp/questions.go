package tcp

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// questionsMost is how many questions may be under way on a connection; more wait
// here. It is what bounds the answers that a peer has to remember.
const questionsMost = 1024

// owedMost is how many answers a peer may leave unread. A peer that keeps to
// questionsMost never comes near it, refusals of puts included.
const owedMost = 8 * questionsMost

// A request is a question to a peer whose answer has not come.
type request struct {
	op    transport.Op
	queue *transport.Queue // whose operation it is; nil if somebody waits for it here
	kind  kind             // of the question
	next  *request         // the next one that waits to be asked, or one to be used again
	ask   frame            // kept while it waits to be asked
	after *request         // ends when this one has ended: a notification behind it

	dst   []byte       // kindGet: where the answer goes
	keep  segment.Span // what dst lies in
	got   uint64       // how much of it has come
	board *notify.Board
	flag  transport.Flag // posted on board in the end, if that is not nil

	answer frame       // for who waits
	err    error       // for who waits
	done   atomic.Bool // set after answer and err
}

// questions are the requests of one connection.
type questions struct {
	all   []*request // index is the number on the wire; nil where free
	free  []uint32
	open  int
	first *request // waiting to be asked
	last  *request
	spare *request // to be used again
	get   *request // the newest kindGet that has no answer yet
}

// requestLocked makes a request for an operation of a queue.
func (o *outbox) requestLocked() *request {
	r := o.asked.spare
	if r == nil {
		return new(request)
	}
	o.asked.spare, r.next = r.next, nil
	return r
}

// recycleLocked takes back a request that requestLocked made.
func (o *outbox) recycleLocked(r *request) {
	*r = request{next: o.asked.spare}
	o.asked.spare = r
}

// number gives r a number. There are questionsMost.
func (s *questions) number(r *request) uint32 {
	s.open++
	if n := len(s.free); n > 0 {
		at := s.free[n-1]
		s.free = s.free[:n-1]
		s.all[at] = r
		return at
	}
	s.all = append(s.all, r)
	return uint32(len(s.all) - 1)
}

// numbered is the request with that number, or nil.
func (s *questions) numbered(n uint32) *request {
	if uint64(n) >= uint64(len(s.all)) {
		return nil
	}
	return s.all[n]
}

// remove frees the number of a request.
func (s *questions) remove(n uint32) {
	if s.get == s.all[n] {
		s.get = nil
	}
	s.all[n] = nil
	s.free = append(s.free, n)
	s.open--
}

// empty takes all requests out.
func (s *questions) empty() (all []*request) {
	for _, r := range s.all {
		if r != nil {
			all = append(all, r)
		}
	}
	for r := s.first; r != nil; r = r.next {
		all = append(all, r)
	}
	*s = questions{}
	return all
}

// ask sends a question, or puts it behind those that wait.
func (c *conn) ask(r *request, f *frame) error {
	c.out.mu.Lock()
	return c.askAndUnlock(r, f)
}

func (c *conn) askAndUnlock(r *request, f *frame) error {
	o := &c.out
	if o.ended != nil {
		o.mu.Unlock()
		return c.link.gone()
	}
	if r.queue != nil {
		r.queue.Begin(&r.op)
	}
	r.kind = f.kind
	if f.kind == kindGet {
		o.asked.get = r
	}
	if o.asked.open == questionsMost {
		o.asked.wait(r, f)
		o.mu.Unlock()
		return nil
	}
	number := o.asked.number(r)
	f.number = number
	f.put(&o.head)
	_, errno := o.passLocked(nil)
	if errno == 0 {
		o.mu.Unlock()
		return nil
	}
	o.asked.remove(number)
	if r.queue != nil {
		r.queue.End(&r.op, nil) // the error goes to the caller
	}
	o.mu.Unlock()
	return c.broke(errno)
}

// wait puts r behind those that wait to be asked.
func (s *questions) wait(r *request, f *frame) {
	r.ask, r.next = *f, nil
	if s.first == nil {
		s.first = r
	} else {
		s.last.next = r
	}
	s.last = r
}

// answeredLocked removes request n and asks one that waits.
func (o *outbox) answeredLocked(n uint32) {
	o.asked.remove(n)
	r := o.asked.first
	if r == nil {
		return
	}
	o.asked.first, r.next = r.next, nil
	r.ask.number = o.asked.number(r)
	r.ask.put(&o.head)
	_, _ = o.passLocked(nil) // an error is noticed by whoever receives
}

// behind posts a notification once the gets that were asked before are answered.
func (c *conn) behind(q *transport.Queue, b *notify.Board, flag transport.Flag) error {
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.asked.get
	switch {
	case o.ended != nil:
		return c.link.gone()
	case last == nil:
		flag.Post(b)
		return nil
	}
	for last.after != nil {
		last = last.after
	}
	last.after = &request{queue: q, board: b, flag: flag}
	q.Begin(&last.after.op)
	return nil
}

// finish ends a request, which is in no table any more.
func (l *link) finish(r *request, err error) {
	if r.after != nil {
		defer l.finish(r.after, err)
	}
	if r.queue == nil {
		r.err = err
		r.done.Store(true)
		l.board.Rouse()
		return
	}
	if err == nil && r.board != nil {
		r.flag.Post(r.board)
	}
	r.queue.End(&r.op, err)
}

// takeBack drops r if it has not been asked yet, and reports whether it did.
func (c *conn) takeBack(r *request) bool {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	s := &c.out.asked
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
		if s.last == r {
			s.last = before
		}
		return true
	}
	return false
}

// consult asks a question and waits for the answer. When ctx ends, the answer is
// given to nobody.
func (c *conn) consult(ctx context.Context, r *request, f *frame) error {
	if err := c.ask(r, f); err != nil {
		return err
	}
	if err := c.link.await(ctx, r.done.Load); err != nil {
		c.takeBack(r)
		return err
	}
	return r.err
}

// answered waits for the answer to r, as grace says. After that the answer is given to
// nobody.
func (c *conn) answered(ctx context.Context, grace *transport.Grace, r *request) error {
	if err := c.late(ctx, grace, r); err != nil {
		c.takeBack(r)
		return err
	}
	return r.err
}

// settled waits for the old value that r asks for, as grace says. After that the answer
// is given to who waits for it with the error.
func (c *conn) settled(ctx context.Context, grace *transport.Grace, r *request) (uint64, error) {
	err := c.late(ctx, grace, r)
	switch {
	case err == nil:
		return r.answer.a, r.err
	case !errors.Is(err, ctx.Err()) || c.takeBack(r):
		return 0, err
	}
	return 0, base.InDoubt(err, func(ctx context.Context) (uint64, error) {
		if err := c.link.await(ctx, r.done.Load); err != nil {
			return 0, err
		}
		return r.answer.a, r.err
	})
}

func (c *conn) late(ctx context.Context, grace *transport.Grace, r *request) error {
	return grace.Wait(ctx, func(ctx context.Context) error { return c.link.await(ctx, r.done.Load) })
}
