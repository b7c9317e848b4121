package boot

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// MaxAnswer bounds an answer to Server.Ask, in bytes.
const MaxAnswer = 32 << 20

// maxAnswering is how many questions a rank answers at a time: more are a mistake of whoever asks.
const maxAnswering = 8

// An Answerer is a session whose launcher may ask the process.
type Answerer interface {
	// OnAsk sets what answers questions. It is called in goroutines of the session, and its context ends
	// with that. The answer has MaxAnswer bytes at most. Without it, questions are refused.
	OnAsk(answer func(ctx context.Context, what string) ([]byte, error))
}

// questions have not been answered yet by the ranks of a server.
type questions struct {
	mu   sync.Mutex
	last uint64
	open map[uint64]*openQuestion // by number
}

// An openQuestion is asked of one rank.
type openQuestion struct {
	rank base.Rank
	done chan struct{}

	value []byte // so far; to be read once done is closed, as err is
	err   error
}

// begin returns a new question and its number.
func (q *questions) begin(r base.Rank) (uint64, *openQuestion) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open == nil {
		q.open = map[uint64]*openQuestion{}
	}
	q.last++
	one := &openQuestion{rank: r, done: make(chan struct{})}
	q.open[q.last] = one
	return q.last, one
}

// forget takes a question back. It does nothing if that was answered.
func (q *questions) forget(number uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.open, number)
}

// answer takes a part of an answer of a rank. Nobody may wait for it any more.
func (q *questions) answer(r base.Rank, m message) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.open[m.Number]
	switch {
	case one == nil:
		return nil
	case one.rank != r:
		return fmt.Errorf("an answer to a question that rank %d was asked", one.rank)
	case len(one.value)+len(m.Value) > MaxAnswer:
		return fmt.Errorf("an answer of more than %d bytes", MaxAnswer)
	}
	one.value = append(one.value, m.Value...)
	if m.More {
		return nil
	}
	if m.Reason != "" {
		one.err = errors.New(m.Reason)
	}
	delete(q.open, m.Number)
	close(one.done)
	return nil
}

// lose ends the questions to a rank whose connection has ended.
func (q *questions) lose(r base.Rank) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for number, one := range q.open {
		if one.rank == r {
			one.err = fmt.Errorf("rank %d: its connection to the launcher has ended", r)
			delete(q.open, number)
			close(one.done)
		}
	}
}

// Ask asks the process of a rank something, a name of at most MaxName bytes, and returns its answer, which
// is the caller's. It blocks until the rank has answered, is gone, or ctx ends: a process that is stopped
// does not answer.
func (s *Server) Ask(ctx context.Context, r base.Rank, what string) ([]byte, error) {
	if r < 0 || int(r) >= s.hub.size {
		return nil, fmt.Errorf("%w: %d; ranks go from 0 to %d", base.ErrBadRank, r, s.hub.size-1)
	}
	s.mu.Lock()
	l := s.links[r]
	there := l != nil && l.joined
	s.mu.Unlock()
	if !there {
		return nil, fmt.Errorf("rank %d has not joined the job", r)
	}
	number, one := s.questions.begin(r)
	defer s.questions.forget(number)
	if err := l.say(message{Kind: kindAsk, Number: number, Name: what}); err != nil {
		return nil, fmt.Errorf("rank %d: %w", r, err)
	}
	select {
	case <-one.done:
		return one.value, one.err
	case <-l.received:
		return nil, fmt.Errorf("rank %d has left the job", r)
	case <-ctx.Done():
		return nil, fmt.Errorf("rank %d has not answered: %w", r, ctx.Err())
	}
}

// OnAsk implements Answerer.
func (c *client) OnAsk(answer func(ctx context.Context, what string) ([]byte, error)) {
	c.answer.Store(&answer)
}

// asked begins to answer a question.
func (c *client) asked(m message) error {
	answer := c.answer.Load()
	switch {
	case answer == nil:
		return c.reply(m.Number, nil, errors.New("the program answers nothing yet"))
	case c.answering.Add(1) > maxAnswering:
		c.answering.Add(-1)
		return c.reply(m.Number, nil, fmt.Errorf("the rank answers %d questions already", maxAnswering))
	}
	go func() {
		defer c.answering.Add(-1)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			select {
			case <-c.done:
				cancel()
			case <-ctx.Done():
			}
		}()
		value, err := (*answer)(ctx, m.Name)
		if err == nil && len(value) > MaxAnswer {
			err = fmt.Errorf("the answer has %d bytes; at most %d can be sent", len(value), MaxAnswer)
		}
		_ = c.reply(m.Number, value, err) // if the connection has ended, nobody waits
	}()
	return nil
}

// reply sends an answer, or why there is none.
func (c *client) reply(number uint64, value []byte, err error) error {
	if err != nil {
		return c.wire.Send(message{Kind: kindAnswer, Number: number, Reason: err.Error()})
	}
	for len(value) > MaxValue {
		if err := c.wire.Send(message{Kind: kindAnswer, Number: number, Value: value[:MaxValue], More: true}); err != nil {
			return err
		}
		value = value[MaxValue:]
	}
	return c.wire.Send(message{Kind: kindAnswer, Number: number, Value: value})
}
