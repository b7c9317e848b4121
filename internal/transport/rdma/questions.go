package rdma

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// A question is a message to a peer that has not been answered.
type question struct {
	kind   kind
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
	m.number = l.asked.add(q)
	l.noteLocked(nil, m, l.t.course.weak)
	return nil
}

// consult asks a question and waits for the answer. When ctx ends, the answer is
// given to nobody.
func (l *link) consult(ctx context.Context, q *question, m message) error {
	if err := l.ask(q, m); err != nil {
		return err
	}
	return l.answered(ctx, q)
}

// answered waits for the answer to q.
func (l *link) answered(ctx context.Context, q *question) error {
	if err := l.t.waitFor(ctx, q.done.Load); err != nil {
		return err
	}
	return q.err
}

// unclaimed is an atomic whose caller ran out of time before the answer came.
type unclaimed struct {
	at       transport.Addr
	op       transport.AtomicOp
	operand  uint64
	compare  uint64
	question *question
}

// unclaimedMost bounds what is kept of callers that never come back.
const unclaimedMost = 64

// abandon keeps a question whose caller does not wait any longer.
func (l *link) abandon(u unclaimed) {
	l.t.lock()
	defer l.t.unlock()
	if len(l.abandoned) == unclaimedMost {
		l.abandoned = slices.Delete(l.abandoned, 0, 1)
	}
	l.abandoned = append(l.abandoned, &u)
}

// reclaim is the question of the same call before, if it was abandoned.
func (l *link) reclaim(want unclaimed) *question {
	l.t.lock()
	defer l.t.unlock()
	for i, u := range l.abandoned {
		got := *u
		if got.question = nil; got == want {
			l.abandoned = slices.Delete(l.abandoned, i, i+1)
			return u.question
		}
	}
	return nil
}
