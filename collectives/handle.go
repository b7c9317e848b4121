package collectives

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// A Handle is an operation that was started. Its buffers are the team's until Wait,
// Test or Done has said that it ended. It goes on by itself, in a goroutine in which functions of
// the program are called too; see Config.Progress.
type Handle struct {
	r     *run
	ended atomic.Bool // the run has, and its memory may be looked at without the team

	mu   sync.Mutex
	done chan struct{} // guarded by mu; nil until somebody asks for it
}

// Wait blocks until the operation has ended and returns its error. When ctx ends
// first, the operation goes on, and so does Wait when called again.
func (h *Handle) Wait(ctx context.Context) error {
	if h.ended.Load() {
		return h.result()
	}
	t := h.r.p.t
	if !t.engine.Enter() {
		return refused(h.r.p.task.String())
	}
	defer t.engine.Leave()
	return h.wait(ctx)
}

// wait is Wait in a call of the team.
func (h *Handle) wait(ctx context.Context) error {
	r := h.r
	if r.state == ended {
		return h.result()
	}
	t := r.p.t
	begun := t.member.Timeline.Begin()
	err := t.finish(ctx, r)
	t.recordCall(r.p.name, begun)
	if err != nil {
		return r.failed(err)
	}
	return nil
}

// result returns the error of an operation that has ended.
func (h *Handle) result() error {
	if h.r.err != nil {
		return h.r.failed(h.r.err)
	}
	return nil
}

// Status says how much of the operation is done when it has ended without error:
// all, but for a Broadcast or Reduce with a threshold.
func (h *Handle) Status() Status { return h.r.p.t.status(&h.r.p.task) }

// Test makes progress without blocking and reports whether the operation has
// ended, and its error.
func (h *Handle) Test() (bool, error) {
	if h.ended.Load() {
		return true, h.result()
	}
	r, t := h.r, h.r.p.t
	switch entered, busy := t.engine.TryEnter(); {
	case busy:
		return false, refused(r.p.task.String())
	case !entered:
		runtime.Gosched() // it may need the processor
		if h.ended.Load() {
			return true, h.result()
		}
		return false, nil
	}
	defer t.engine.Leave()
	if r.state != ended {
		if err := t.try(); err != nil {
			return true, r.failed(t.fail(err))
		}
	}
	if r.state != ended {
		return false, nil
	}
	return true, h.result()
}

// Done returns a channel that is closed when the operation has ended, well or not: Wait then
// returns at once. With Progress set to Caller it ends only while calls of the team wait or test. Any
// goroutine may call Done, also while another one is in a call of the team. The channel is that of
// the run that is under way or was the last, of a plan that is started again.
func (h *Handle) Done() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done == nil {
		if h.ended.Load() {
			return closed
		}
		h.done = make(chan struct{})
	}
	return h.done
}

// closed is the channel of operations that had ended before anybody asked.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// renew makes h the handle of a run that begins.
func (h *Handle) renew() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = nil
	h.ended.Store(false)
}

// settle tells those who wait for Done that the run has ended.
func (h *Handle) settle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended.Store(true)
	if h.done != nil {
		close(h.done)
		h.done = nil
	}
}
