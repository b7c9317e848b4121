package rdma

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// A question is a message to a peer that has not been answered.
type question struct {
	kind   kind
	number uint32
	answer message
	remote *remote // kindAttach: what was learnt
	err    error
	done   atomic.Bool // set after the others
}

// questions are those of one link, guarded by Transport.mu. Each has a goroutine that
// waits for it, or had one.
type questions struct {
	open map[uint32]*question // by number
	last uint32
}

func (s *questions) add(q *question) (number uint32) {
	if s.open == nil {
		s.open = make(map[uint32]*question)
	}
	for s.last++; s.open[s.last] != nil; s.last++ {
		// It has gone round, and that one is still open.
	}
	s.open[s.last] = q
	return s.last
}

// take is the question with that number, or nil. It is answered.
func (s *questions) take(number uint32) *question {
	q := s.open[number]
	delete(s.open, number)
	return q
}

// empty takes all.
func (s *questions) empty() (all []*question) {
	for _, q := range s.open {
		all = append(all, q)
	}
	clear(s.open)
	return all
}

// ask sends a question, behind all writes that were issued before.
func (l *link) ask(q *question, m message) error {
	l.t.lock()
	defer l.t.unlock()
	if err := l.gone(); err != nil {
		return err
	}
	q.kind = m.kind
	q.number = l.asked.add(q)
	m.number = q.number
	l.noteLocked(nil, m, l.t.course.weak)
	return nil
}

// takeBack drops q if it has not left the backlog yet, and reports whether it did.
func (l *link) takeBack(q *question) bool {
	l.t.lock()
	defer l.t.unlock()
	if l.asked.open[q.number] != q { // answered, and the number may be another's
		return false
	}
	var before *op
	for o := l.first; o != nil; before, o = o, o.next {
		if o.kind != opMessage || o.message.kind != q.kind || o.message.number != q.number {
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
		l.asked.take(q.number)
		o.full = true
		l.t.concludeLocked(o)
		return true
	}
	return false
}

// consult asks a question and waits for the answer. When ctx ends, the answer is
// given to nobody.
func (l *link) consult(ctx context.Context, q *question, m message) error {
	if err := l.ask(q, m); err != nil {
		return err
	}
	if err := l.t.waitFor(ctx, q.done.Load); err != nil {
		l.takeBack(q)
		return err
	}
	return q.err
}

// settled waits for the old value that q asks for, as grace says. After that the answer
// is given to who waits for it with the error.
func (l *link) settled(ctx context.Context, grace *transport.Grace, q *question) (uint64, error) {
	err := l.late(ctx, grace, q)
	switch {
	case err == nil:
		return q.answer.a, q.err
	case !errors.Is(err, ctx.Err()) || l.takeBack(q):
		return 0, err
	}
	return 0, base.InDoubt(err, func(ctx context.Context) (uint64, error) {
		if err := l.t.waitFor(ctx, q.done.Load); err != nil {
			return 0, err
		}
		return q.answer.a, q.err
	})
}

func (l *link) late(ctx context.Context, grace *transport.Grace, q *question) error {
	return grace.Wait(ctx, func(ctx context.Context) error { return l.t.waitFor(ctx, q.done.Load) })
}
