package collectives

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives/internal/agreement"
	"github.com/gaspi-go/gaspi-go/collectives/internal/posts"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// This file is hot: between a call and the first post lie a comparison of keys
// and the walk through a few instructions. Nothing allocates when a plan is run
// again, and nothing calls the system unless the rank sleeps.

// A run is an operation under way, or one that has ended and whose memory waits
// for the next.
type run struct {
	p        *Plan
	handle   Handle
	state    runState
	call     uint64 // its number
	number   uint32 // of this run among those of the plan
	operands [][]byte
	at       []int // next instruction of each lane
	fold     reduce.Kernel
	agree    agreement.Agreement
	err      error
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
	r.at = make([]int, len(p.prog.lanes))
	r.operands = append([][]byte(nil), p.prog.operands...)
}

// bind takes the caller's buffers.
func (r *run) bind(task *Task) {
	r.operands[memIn], r.operands[memOut] = task.in, task.out
	for i, b := range task.extra {
		r.operands[memExtra+i] = b
	}
	r.fold = r.p.prog.fold
	if task.user != nil {
		r.fold = task.user
	}
}

// end takes a run out of the way.
func (r *run) end(err error) {
	r.err, r.state = err, ended
	if r.p.busy == r {
		r.p.busy = nil
	}
	r.fold = nil
	clear(r.operands[:memExtra+len(r.p.task.extra)]) // the caller's again
}

// progress does what can be done for all operations, in the order of their calls,
// and reports whether anything was.
func (t *Team) progress(ctx context.Context) (moved bool, err error) {
	if err := t.own.Revoked(); err != nil {
		return false, err
	}
	for i := 0; i < len(t.ops.active); i++ {
		r := t.ops.active[i]
		m, err := r.advance(ctx)
		moved = moved || m
		if err != nil {
			return moved, err
		}
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
		if err != nil || !done {
			return further, err
		}
		r.state, r.p.agreed, moved = going, true, true
	}
	left := 0 // lanes that have not ended
	for i, before := range r.at {
		if err := r.walk(ctx, i); err != nil {
			return true, err
		}
		moved = moved || r.at[i] != before
		if r.at[i] < len(r.p.prog.lanes[i]) {
			left++
		}
	}
	if left > 0 {
		return moved, nil
	}
	if r.p.prog.puts {
		if err := t.waitQueue(ctx); err != nil {
			return true, err
		}
	}
	r.end(nil)
	return true, nil
}

// walk goes through a lane until it ends or must wait.
func (r *run) walk(ctx context.Context, lane int) error {
	code := r.p.prog.lanes[lane]
	for ; r.at[lane] < len(code); r.at[lane]++ {
		in := &code[r.at[lane]]
		if in.kind == schedule.Await {
			if !r.arrived(in) {
				return nil
			}
		} else if err := r.step(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// step does an instruction that waits for no peer.
func (r *run) step(ctx context.Context, in *instruction) error {
	switch in.kind {
	case schedule.Put, schedule.Signal:
		return r.post(ctx, in)
	case schedule.Combine:
		r.p.t.folds.fold(r, in)
	case schedule.Encode, schedule.Decode:
		return r.code(in)
	case schedule.Flush:
		return r.p.t.waitQueue(ctx)
	}
	return nil
}

// arrived reports whether what an await waits for is there.
func (r *run) arrived(in *instruction) bool {
	return posts.Reached(r.p.t.control.Peek(in.note), posts.Value(r.number*in.per+in.nth))
}

// post does a put or a signal.
func (r *run) post(ctx context.Context, in *instruction) error {
	q := r.p.t.queue
	n := gaspi.Notification{ID: in.note, Value: posts.Value(r.number*in.per + in.nth)}
	odd := r.number & 1
	src := in.src[odd]
	if in.coded {
		used, err := form(src)
		if err != nil {
			return err
		}
		src = used
	}
	for {
		var err error
		switch {
		case in.kind == schedule.Signal:
			err = q.Notify(in.board, n)
		case in.joint:
			err = q.WriteNotifyIn(in.to[odd], src, in.board.Segment, n)
		default:
			if err = q.Write(in.to[odd], src); err == nil && in.posts {
				err = q.Notify(in.board, n)
			}
		}
		if err != gaspi.ErrQueueFull {
			return r.p.t.unneeded(err)
		}
		if err := r.p.t.waitQueue(ctx); err != nil {
			return err
		}
	}
}

// look reports whether some operation can go on.
func (t *Team) look() bool {
	for _, r := range t.ops.active {
		if r.state == agreeing {
			if r.agree.Arrived(t.mail) {
				return true
			}
			continue
		}
		for i, pc := range r.at {
			if code := r.p.prog.lanes[i]; pc < len(code) && r.arrived(&code[pc]) {
				return true
			}
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
	moved, err := t.progress(context.Background())
	now := time.Now()
	switch {
	case moved || err != nil:
		t.wait.since = time.Time{}
		return err
	case t.wait.since.IsZero():
		t.wait.since = now
	case now.Sub(t.wait.since) >= t.wait.patience:
		t.wait.since = now
		if err := t.stalled(t.wait.nap.In(context.Background(), tryMost)); !ctxErr(err) {
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
	for {
		err := t.await(t.wait.in(ctx))
		switch {
		case err == nil:
			return nil
		case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
			if ctx.Err() != nil {
				return ctx.Err()
			}
		default:
			return t.fail(err)
		}
		if err := t.stalled(ctx); err != nil {
			return t.fail(err)
		}
	}
}

// await is one wait. A single lane waits for its own notification, which is
// quicker to look at than everything that could go on.
func (t *Team) await(ctx context.Context) error {
	if len(t.ops.active) == 1 {
		if r := t.ops.active[0]; r.state == going && len(r.at) == 1 {
			in := &r.p.prog.lanes[0][r.at[0]]
			return t.control.WaitUntil(ctx, in.note, gaspi.Reached, posts.Value(r.number*in.per+in.nth))
		}
	}
	return t.control.WaitFunc(ctx, t.wait.look)
}

// fail makes the team unusable and ends everything that is under way.
func (t *Team) fail(err error) error {
	if ctxErr(err) {
		return err
	}
	err = t.blame(err)
	if f, ok := errors.AsType[*gaspi.RankError](err); ok && f.Left && t.broken == nil {
		t.tellOfLeaver(f.Rank)
	}
	spread(t.cfg.RevokeWith, err)
	if t.broken == nil {
		t.broken = err
	}
	t.ops.end(t.broken)
	t.early = interrupted{held: t.early.held}
	return err
}

func ctxErr(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// usable returns why a task cannot be begun, or nil.
func (t *Team) usable(task *Task) error {
	switch {
	case t.closed:
		return gaspi.ErrClosed
	case t.broken != nil:
		return t.unusable()
	case t.own.Revoked() != nil:
		return t.fail(t.own.Revoked())
	}
	return task.err
}

// unusable is the error of calls after one that made the team unusable.
func (t *Team) unusable() error {
	until := "until Reset"
	if t.own.Revoked() != nil || t.broken == errSplitting {
		until = "until it is made anew"
	}
	return fmt.Errorf("the team is unusable %s, because of an earlier error: %w", until, t.broken)
}
