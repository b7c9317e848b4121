package collectives

import (
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
	"github.com/gaspi-go/gaspi-go/internal/nap"
)

// errBusy says that calls of a team overlap.
var errBusy = fmt.Errorf("%w: another goroutine is in a call of this team; make a team for each goroutine, with a Config.Tag of its own, or hold a lock around its calls", gaspi.ErrInUse)

// errAbandoned is what handles of operations say that Reset or Close gave up.
var errAbandoned = fmt.Errorf("%w: the operation was given up by Reset or Close", gaspi.ErrClosed)

// errResetting is why a team is unusable whose Reset ended early.
var errResetting = errors.New("a Reset ended early and is to be called again")

// errUnable is why members do nothing of which one of them said what is wrong.
var errUnable = fmt.Errorf("%w: another member cannot take part, and says why", gaspi.ErrMismatch)

// errSplitting is why a team is unusable whose Split ended early.
var errSplitting = fmt.Errorf("%w: a Split ended early, after which the team can only be closed, revoked and shrunk", gaspi.ErrMismatch)

// teamError is an error of what concerns a whole team.
func teamError(op string, err error) error {
	return agree.Outermost(&gaspi.OpError{Op: "collectives: " + op, Err: err})
}

// refused is the error of a call that another one kept out of the team.
func refused(op string) error { return teamError(op, errBusy) }

// unfinished is the error of a call made after one that ended early.
func unfinished(earlier fmt.Stringer) error {
	return fmt.Errorf("%w: %v ended early and is to be finished first", gaspi.ErrMismatch, earlier)
}

// fail makes the team unusable and ends everything that is under way.
func (t *Team) fail(err error) error {
	if nap.Ended(err) {
		return err
	}
	err = t.members.Blame(err)
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

// failed is the error of a task that was not begun.
func (t *Team) failed(task *Task, err error) error {
	return agree.Outermost(&gaspi.OpError{Op: "collectives: " + task.String(), Err: t.lost(err)})
}

// failed is the error of an operation, with its place and what it waited for.
func (r *run) failed(err error) error {
	e := &gaspi.OpError{Op: "collectives: " + r.p.task.String(), At: r.place(), Err: err}
	if r.state != ended {
		e.Wait = r.waitingFor()
	}
	return agree.Outermost(e)
}
