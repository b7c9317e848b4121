package launcher

import (
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
)

// questions are those to an agent that it has not answered.
type questions struct {
	mu   sync.Mutex
	last int32                     // guarded by mu; number of the last question
	open map[int32]chan talk.Frame // guarded by mu; by its number, with room for the answer
}

func newQuestions() *questions { return &questions{open: map[int32]chan talk.Frame{}} }

// answer hands on an answer, unless nobody waits for it any more.
func (q *questions) answer(f talk.Frame) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c := q.open[f.Number]; c != nil {
		c <- f
		delete(q.open, f.Number)
	}
}

// question asks the agent, and returns its answer; false if none comes in time, or nobody is there to
// give it.
func (r *remote) question(kind talk.FrameKind, data []byte, patience time.Duration) (talk.Frame, bool) {
	q, answered := r.questions, make(chan talk.Frame, 1)
	q.mu.Lock()
	q.last++
	number := q.last
	q.open[number] = answered
	q.mu.Unlock()
	r.sending.Lock()
	ordered := r.ordered
	if ordered {
		r.conn.Load().Send(talk.Frame{Kind: kind, Number: number, Data: data})
	}
	r.sending.Unlock()
	if ordered {
		select {
		case f := <-answered:
			return f, true
		case <-r.over:
		case <-time.After(patience):
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.open, number)
	return talk.Frame{}, false
}
