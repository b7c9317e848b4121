package collectives

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives/internal/meeting"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
)

// All that members do together beside operations, they do in meetings: see package meeting. A meeting
// has a number among the calls of the team. A member that waits in one therefore finds out, as one that
// waits in an operation does, that another member has made another call instead.

// meet makes sure that all members are in the same call, which a word and a text name, and have
// nothing against it: wrong is what this one has, or nil. It is collective, and blocks. When ctx
// ends first, the same call again goes on. Any other error is one at all members, and the team
// is unusable unless it says that some member cannot take part.
func (t *Team) meet(ctx context.Context, call meeting.Word, text string, wrong error) error {
	if t.ops.meeting == nil {
		t.ops.meetNext(t.me, text)
	}
	say := t.says(call)
	if wrong != nil {
		say = say.Decline()
	}
	heard, err := t.patience(t.stalled).Talk(ctx, t.own, say)
	switch {
	case nap.Ended(err):
		return err
	case err != nil:
		return t.fail(err)
	case !heard.Of(call), !heard.Alike() && !heard.Declined():
		return t.fail(t.mismatch(ctx, t.unnamed()))
	}
	t.ops.endMeeting()
	if wrong == nil && heard.Declined() {
		wrong = errUnable
	}
	return wrong
}

// says returns what this member says of the meeting under way, which call holds.
func (t *Team) says(call meeting.Word) meeting.Word {
	n := t.ops.meeting
	return meeting.Say(call, n.Call, n.Signature, t.resetting.segments.count)
}

// patience returns the patience of this member in a call that ends with the error that stalled returns.
func (t *Team) patience(stalled func(context.Context) error) meeting.Patience {
	return meeting.Patience{Limit: t.member.Patience, Stalled: stalled}
}

// mismatchRows is how often a member tells the others its calls, to find out which two do not
// match. All know that some do.
const mismatchRows = 8

// mismatch returns the error of a meeting, or of an agreement, in which members were in different
// calls. It names two of them, unless ctx ends first; then it is unnamed.
func (t *Team) mismatch(ctx context.Context, unnamed error) error {
	for range mismatchRows {
		err := t.stalled(ctx)
		for range t.ranks { // each tells its calls about once meanwhile
			if err != nil || t.control.WaitFunc(t.member.Nap(ctx), t.mail.Pending) != nil {
				break
			}
			if err = t.verdict(); err == nil {
				err = t.differing(ctx)
			}
		}
		switch {
		case err != nil && !nap.Ended(err):
			return err
		case ctx.Err() != nil:
			return unnamed
		}
	}
	return unnamed
}

// unnamed is the error of a meeting in which members were in different calls, if it is not known
// which.
func (t *Team) unnamed() error {
	return fmt.Errorf("%w: this rank called %s as call %d of the team, and another member another call; the team is unusable until Reset",
		gaspi.ErrMismatch, t.ops.meeting.Text, t.ops.meeting.Call+1)
}

// A holding is an Alloc or a Release. The team keeps one that ended early, and makes no
// other call until the same call has ended it.
type holding struct {
	call  meeting.Word // meeting.Alloc or meeting.Release; 0 for none
	size  uint64       // bytes that are to be allocated
	alloc int          // that is released
	met   bool         // all members have called it
}

// String is the call as messages show it.
func (h holding) String() string {
	if h.call == meeting.Alloc {
		return fmt.Sprintf("alloc of %d bytes", h.size)
	}
	return fmt.Sprintf("release of allocation %d", h.alloc)
}

// hold meets all members in an Alloc or a Release, and returns why it cannot be done:
// wrong, or something at another member.
func (t *Team) hold(ctx context.Context, h holding, wrong error) error {
	before := t.early.held
	h.met = before.met
	switch {
	case before == h && h.met:
		return nil
	case before == h:
	case before.call != 0:
		return unfinished(before)
	default:
		if err := t.between(ctx); err != nil {
			return err
		}
	}
	t.early.held = h
	err := t.meet(ctx, h.call, h.String(), wrong)
	t.early.held.met = err == nil
	if err != nil && !nap.Ended(err) {
		t.early.held = holding{}
	}
	return err
}

// between finishes what is under way before members meet, and returns why they cannot. It blocks
// until all members have begun what this one has.
func (t *Team) between(ctx context.Context) error {
	switch {
	case t.closed:
		return gaspi.ErrClosed
	case t.broken != nil:
		return t.unusable()
	case t.early.single != nil:
		return unfinished(&t.early.single.p.task)
	}
	if err := t.hindered(key{}); err != nil {
		return err
	}
	return t.drain(ctx)
}
