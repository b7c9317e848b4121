package collectives

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
	"github.com/gaspi-go/gaspi-go/internal/trace"
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
func (h *Handle) Status() Status {
	s := h.r.p.t.status(&h.r.p.task)
	s.Of = h.r.of // vectors of several lengths may have one plan
	return s
}

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

// try makes progress without waiting.
func (t *Team) try() error {
	moved, err := t.progress(endedContext)
	if moved || err != nil {
		t.idle = time.Time{}
		return err
	}
	return t.cut(t.stalled)
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

// A Progress says who carries on operations that Start has begun.
type Progress int

const (
	// Auto is Background.
	Auto Progress = iota
	// Caller leaves operations to calls of the team: they go on while one waits or tests. No
	// goroutine is started.
	Caller
	// Background carries on operations, until they have ended, in a goroutine of the team as well,
	// while no call does. It sleeps while it waits for peers, and ends when nothing is under way.
	Background
)

// String returns the name of the constant.
func (p Progress) String() string {
	switch p {
	case Auto:
		return "auto"
	case Caller:
		return "caller"
	case Background:
		return "background"
	}
	return fmt.Sprintf("Progress(%d)", int(p))
}

// carryOn notes that Start has begun r.
func (t *Team) carryOn(r *run) {
	r.begun = t.member.Timeline.Begin()
	if t.cfg.Progress == Caller {
		return
	}
	r.started = true
	t.engine.Begin()
}

// A background is the operations of a team as the goroutine of its engine carries them on.
type background struct {
	t    *Team
	bell gaspi.Notification // to this rank itself; wakes the goroutine
	seen []trace.Record     // what ended the last sleep, where there is a timeline
}

// Advance implements progress.Operations.
func (b *background) Advance(slept error) (moved bool) {
	moved, err := b.t.progress(endedContext)
	if err == nil && slept != nil {
		err = b.hopeless()
	}
	if err != nil {
		_ = b.t.fail(err) // the handles say it
	}
	return moved
}

// hopeless returns why no wait for posts can end well any more, or nil.
func (b *background) hopeless() error {
	if err := b.t.control.WaitFunc(endedContext, func() bool { return false }); !nap.Ended(err) {
		return err
	}
	return nil
}

// Ready implements progress.Operations.
func (b *background) Ready() bool {
	ready := b.t.look()
	if ready && b.t.member.Timeline != nil {
		b.seen = b.t.arrivals(b.seen)
	}
	return ready
}

// Blocked implements progress.Operations.
func (b *background) Blocked() bool {
	return slices.ContainsFunc(b.t.ops.active, func(r *run) bool { return r.blocked })
}

// Stalled implements progress.Operations.
func (b *background) Stalled() {
	t := b.t
	if !t.ops.lasts() {
		return
	}
	if err := t.stalled(t.member.NapOf(context.Background(), stallCheck)); err != nil && !nap.Ended(err) {
		_ = t.fail(err) // the handles say it
	}
}

// Patience implements progress.Operations.
func (b *background) Patience() time.Duration { return b.t.member.Patience }

// Sleep implements progress.Operations.
func (b *background) Sleep(woken func() bool) error {
	b.seen = b.seen[:0]
	begun := b.t.member.Timeline.Begin()
	err := b.t.control.WaitFunc(context.Background(), woken, gaspi.Asleep)
	b.t.recordSleep(begun, b.seen)
	return err
}

// Wake implements progress.Operations. It fails only when the segment is gone, whose end wakes the
// goroutine too.
func (b *background) Wake() { _ = b.t.queue.Notify(b.t.control.At(b.t.proc.Rank(), 0), b.bell) }
