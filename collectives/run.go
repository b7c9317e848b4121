package collectives

import (
	"context"
	"errors"
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
	of     int    // elements of the vector before a threshold was applied
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

// begin numbers a call and begins it as soon as there is room.
func (o *operations) begin(r *run, task *Task) {
	r.call, r.err, r.state, r.of = o.next(r.p.sign, r.p.prog.Eager()), nil, queued, task.of
	r.clock.start(r)
	r.handle.renew()
	r.bind(task)
	if len(o.waiting) > 0 || !o.hasRoom(r.p) {
		o.waiting = append(o.waiting, r)
		return
	}
	o.activate(r)
}

// bind takes the caller's buffers.
func (r *run) bind(task *Task) { r.exec.Bind(task.in, task.out, task.extra, task.user) }

// hasRoom reports whether a run of p can begin: p has no other under way, and fewer than Window calls
// are. Of agreements, those after the earliest under way count whether they have ended or not: see
// agreement.Begin.
func (o *operations) hasRoom(p *Plan) bool {
	if p.busy != nil || len(o.active) >= agreement.Window {
		return false
	}
	if p.agreed {
		return true
	}
	for _, r := range o.active {
		if r.state == agreeing {
			return o.agreed-r.agree.Number() < agreement.Window
		}
	}
	return true
}

// activate begins a run for which there is room.
func (o *operations) activate(r *run) {
	p := r.p
	p.busy = r
	r.exec.Begin(r.call)
	e := o.entry(r.call)
	e.p, e.call = p, r.call
	r.state = going
	if !p.agreed {
		r.state = agreeing
		r.agree = agreement.Begin(o.agreed, p.note(r.call))
		o.agreed++
	}
	o.active = append(o.active, r)
}

// admit begins what has waited for room. The order of calls is kept.
func (o *operations) admit() {
	for len(o.waiting) > 0 && o.hasRoom(o.waiting[0].p) {
		r := o.waiting[0]
		o.waiting = o.waiting[1:]
		o.activate(r)
	}
}

// end ends all calls with err. The next call has the number of the earliest of them: none begins
// before the team was reset, and Reset says by it where this member has stopped.
func (o *operations) end(err error) {
	o.calls = o.first()
	for _, r := range o.active {
		r.end(err)
	}
	for _, r := range o.waiting {
		r.end(err)
	}
	o.active, o.waiting, o.meeting = nil, nil, nil
}

// alone numbers the call of a run that has nothing beside it, before exec.Run.
func (r *run) alone() {
	r.call, r.err = r.p.t.ops.next(r.p.sign, r.p.prog.Eager()), nil
	if r.clock.weight = 0; r.isTimed() {
		r.clock.start(r)
	}
	r.p.t.ops.recent.add(r)
}

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
		r.divide()
		r.end(nil)
	}
	return moved || did, err
}

// divide makes averages of the sums of a run that is about to end, if they are wanted.
func (r *run) divide() {
	if r.p.average {
		r.divideAll()
	}
}

// divideAll divides all vectors, or the block of this member.
func (r *run) divideAll() {
	p := r.p
	call, all := &p.call, r.exec.Results()
	if call.Op == schedule.ReduceScatter {
		all = all[:1] // further vectors are not results
		if call.InPlace {
			at, n := call.Block(p.t.me)
			all = [][]byte{all[0][at*call.Element:][:n*call.Element]}
		}
	}
	for _, sums := range all {
		p.task.elem.Quotient()(sums, len(p.t.ranks))
	}
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
		moved, err := t.progress(ctx)
		if err != nil {
			return t.fail(err)
		}
		if moved {
			t.idle = time.Time{}
		}
		if r.state == ended {
			return r.err
		}
		if err := t.sleep(ctx); err != nil {
			return err
		}
	}
}

// quickly runs a plan of a single lane that is idle, whose buffers are bound.
func (r *run) quickly(ctx context.Context) error {
	r.alone()
	err := r.exec.Run(ctx, r.call)
	if r.p.t.member.Timeline != nil {
		r.recordQuick(err)
	}
	if err != nil {
		return r.slowly(ctx)
	}
	r.divide()
	r.counted()
	return nil
}

// slowly goes on, the way all others go, with a run that something has stopped in exec.Run.
func (r *run) slowly(ctx context.Context) error {
	t := r.p.t
	defer t.recordCall(r.p.name, t.member.Timeline.Begin())
	r.state, r.p.busy = going, r
	r.handle.renew()
	t.ops.active = append(t.ops.active, r)
	t.ops.lasts()
	return t.complete(ctx, r)
}

// complete is finish for a single call, which another one goes on with if ctx ends
// first.
func (t *Team) complete(ctx context.Context, r *run) error {
	if err := t.finish(ctx, r); err != nil {
		if in, out := r.exec.Buffers(); r.state != ended {
			t.early.single, t.early.in, t.early.out, t.early.others = r, start(in), start(out), starts(r.exec.Others())
		}
		return r.failed(err)
	}
	return nil
}

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
	if r, ok := ctx.(resumed); ok && time.Since(r.Began()) >= t.member.Patience {
		lasts.since = r.Began()
		lasts.told(t, t.proc.TellWait)
	}
	for {
		err := t.await(t.member.Nap(ctx))
		switch {
		case err == nil:
			return nil
		case nap.Ended(err):
			if over := ctx.Err(); over != nil {
				if err := t.cut(t.stalled); err != nil {
					return t.fail(err)
				}
				return over
			}
			if !t.ops.lasts() {
				continue
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
