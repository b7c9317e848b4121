package collectives

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives/internal/agreement"
	"github.com/gaspi-go/gaspi-go/collectives/internal/executor"
	"github.com/gaspi-go/gaspi-go/internal/nap"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// This file is hot: every run of a plan begins, goes on and ends here. Nothing allocates when a
// plan is run again.

// A run is an operation under way, or one that has ended and whose memory waits
// for the next.
type run struct {
	p      *Plan
	handle Handle
	state  runState
	call   uint64 // its number
	exec   executor.Execution
	agree  agreement.Agreement
	err    error
	clock  callClock

	started bool  // by Start, and goes on in the background
	begun   int64 // when Start was called, in the timeline; 0 without one
	blocked bool  // by the queue, when it was last gone on with
}

type runState uint8

const (
	ended    runState = iota // or never begun
	queued                   // until the plan or the window has room
	agreeing                 // on what the call is
	going
)

// prepare makes the memory of a run of p.
func (r *run) prepare(p *Plan) {
	r.p = p
	r.handle.r = r
	r.exec.Prepare(&p.t.member, &p.prog)
}

// bind takes the caller's buffers.
func (r *run) bind(task *Task) { r.exec.Bind(task.in, task.out, task.extra, task.user) }

// end takes a run out of the way.
func (r *run) end(err error) {
	r.err, r.state = err, ended
	if err == nil {
		r.counted()
	}
	if r.p.busy == r {
		r.p.busy = nil
	}
	r.exec.Release()
	if r.started {
		r.started = false
		r.p.t.engine.End()
	}
	r.recordRun()
	r.handle.settle()
}

// progress does what can be done for all operations, in the order of their calls,
// and reports whether anything was. With endedContext it does not block: an operation that
// waits for the queue is blocked.
func (t *Team) progress(ctx context.Context) (moved bool, err error) {
	if err := t.own.Revoked(); err != nil {
		return false, err
	}
	if err := t.follow(ctx); err != nil && (ctx != endedContext || !nap.Ended(err)) {
		return false, err
	}
	for i := 0; i < len(t.ops.active); i++ {
		r := t.ops.active[i]
		m, err := r.advance(ctx)
		r.blocked = ctx == endedContext && nap.Ended(err)
		switch {
		case r.blocked:
			continue
		case err != nil:
			return moved || m, err
		}
		moved = moved || m
		if r.state != ended {
			continue
		}
		t.ops.active = append(t.ops.active[:i], t.ops.active[i+1:]...)
		i--
		t.ops.admit()
	}
	return moved, nil
}

// advance does what can be done for r.
func (r *run) advance(ctx context.Context) (moved bool, err error) {
	t := r.p.t
	if r.state == agreeing {
		done, further, err := r.agree.Advance(ctx, t.mail)
		if done && r.agree.Astray() {
			err = t.apart(err)
		}
		if err != nil || !done {
			return further, err
		}
		r.state, r.p.agreed, moved = going, true, true
	}
	did, done, err := r.exec.Advance(ctx)
	if stray, ok := errors.AsType[*executor.StrayError](err); ok {
		err = t.strayed(ctx, r, stray)
	}
	if done {
		if r.p.task.isAverage() {
			r.divide()
		}
		r.end(nil)
	}
	return moved || did, err
}

// look reports whether some operation can go on.
func (t *Team) look() bool {
	for _, r := range t.ops.active {
		if r.state == agreeing {
			if !r.blocked && r.agree.Arrived(t.mail) {
				return true
			}
			continue
		}
		if !r.blocked && r.exec.Ready() {
			return true
		}
	}
	return false
}

// finish makes progress until r has ended.
func (t *Team) finish(ctx context.Context, r *run) error {
	for {
		if _, err := t.progress(ctx); err != nil {
			return t.fail(err)
		}
		if r.state == ended {
			return r.err
		}
		if err := t.sleep(ctx); err != nil {
			return err
		}
	}
}

// try makes progress without waiting. When it has found nothing to do for the patience of the
// team, it looks for a reason.
func (t *Team) try() error {
	moved, err := t.progress(endedContext)
	now := time.Now()
	switch {
	case moved || err != nil:
		t.idle = time.Time{}
		return err
	case t.idle.IsZero():
		t.idle = now
	case now.Sub(t.idle) >= t.member.Patience:
		t.idle = now
		if err := t.stalled(t.member.NapOf(context.Background(), tryMost)); !nap.Ended(err) {
			return err
		}
	}
	return nil
}

// tryMost is how long Test may wait for room in the queue when it looks for a reason.
const tryMost = time.Millisecond

// drain makes progress until nothing is under way.
func (t *Team) drain(ctx context.Context) error {
	for len(t.ops.active) > 0 {
		if err := t.finish(ctx, t.ops.active[0]); err != nil {
			return err
		}
	}
	return nil
}

// sleep waits until some operation can go on.
func (t *Team) sleep(ctx context.Context) error {
	var lasts longWait
	defer lasts.end()
	for {
		err := t.await(t.member.Nap(ctx))
		switch {
		case err == nil:
			return nil
		case nap.Ended(err):
			if ctx.Err() != nil {
				return ctx.Err()
			}
		default:
			return t.fail(err)
		}
		if err := t.stalled(ctx); err != nil {
			return t.fail(err)
		}
		lasts.told(t, t.proc.TellWait)
	}
}

// await is one wait. A single lane waits for its own posts, which are quicker to look at than
// everything that could go on.
func (t *Team) await(ctx context.Context) error {
	defer t.recordAwait(t.member.Timeline.Begin())
	if r := t.alone(); r != nil {
		return r.exec.Wait(ctx)
	}
	return t.control.WaitFunc(ctx, t.ready)
}

// alone returns the operation under way if there is one, of a single lane; else nil.
func (t *Team) alone() *run {
	if len(t.ops.active) == 1 {
		if r := t.ops.active[0]; r.state == going && r.p.prog.Single() {
			return r
		}
	}
	return nil
}

// place says which operation this is and how far it is.
func (r *run) place() string {
	if r.state == ended {
		return fmt.Sprintf("call %d of the team", r.call+1)
	}
	done, all := r.exec.Steps()
	return fmt.Sprintf("call %d of the team, %v, step %d of %d", r.call+1, r.p.variant, done, all)
}

// waitingFor returns a text that names the ranks a run waits for.
func (r *run) waitingFor() string {
	if r.state == queued {
		return "an earlier operation of the team"
	}
	var names []string
	for _, i := range r.awaited() {
		names = append(names, fmt.Sprintf("rank %d", r.p.t.ranks[i]))
	}
	if r.state == agreeing {
		names = append(names, "to agree on the call")
	}
	return strings.Join(names, ", ")
}

// awaited returns the members that the run waits for.
func (r *run) awaited() []int {
	t := r.p.t
	switch r.state {
	case queued:
		return nil
	case agreeing:
		if r.agree.Arrived(t.mail) {
			return nil
		}
		return []int{r.agree.Awaited(t.mail)}
	}
	return r.writers()
}

// writers returns the members whose posts the run waits for.
func (r *run) writers() []int {
	return r.posters(r.exec.Awaited())
}

// posters returns the other members that post any of those slots at this one. Only their own
// schedules say so, which are made here for the purpose.
func (r *run) posters(slots []int32) []int {
	p := r.p
	var posters []int
	for i := range p.t.ranks {
		s := schedule.Build(&p.call.Call, i, p.variant.Emitter())
		if i != p.t.me && s.Posts(p.t.me, slots) {
			posters = append(posters, i)
		}
	}
	return posters
}

// awaitedSlots returns what tells apart for whom the run waits: slots, or the member that it agrees with.
func (r *run) awaitedSlots() []int32 {
	switch r.state {
	case queued:
		return nil
	case agreeing:
		return []int32{int32(r.agree.Awaited(r.p.t.mail))}
	}
	return r.exec.Awaited()
}
