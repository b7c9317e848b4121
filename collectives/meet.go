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

// errUnable is why members do nothing of which one of them said what is wrong.
var errUnable = fmt.Errorf("%w: another member cannot take part, and says why", gaspi.ErrMismatch)

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

// making is the segments that a team makes. They differ by one at most between members:
// none ends before all have begun it.
type making struct {
	count int    // that were begun
	last  uint64 // bytes of the last one, shifted by 1, and whether it is of Alloc
	early bool   // it ended early
	kept  bool   // it is of an Alloc that has ended well
}

// newSegment makes a segment over the team for Alloc or for operations, as a call of its own. When
// ctx ends first, the same call again goes on.
func (t *Team) newSegment(ctx context.Context, size uint64, alloc bool) (*gaspi.Segment, error) {
	m := &t.resetting.segments
	if !m.early {
		m.count++
		m.last, m.kept = size<<1, false
		text := fmt.Sprintf("memory of %d bytes for operations", size)
		if alloc {
			m.last |= 1
			text = holding{call: meeting.Alloc, size: size}.String()
		}
		t.ops.meetNext(t.me, text)
	}
	var seg *gaspi.Segment
	err := t.patience(t.stalled).Do(ctx, func(ctx context.Context) (err error) {
		seg, err = t.createSegment(ctx, size, 1)
		m.early = nap.Ended(err)
		return err
	})
	switch {
	case !m.early:
		t.ops.endMeeting()
		return seg, err
	case nap.Ended(err):
		return nil, err
	default:
		return nil, t.fail(err)
	}
}

// createSegment makes a segment over the team under an id that is free everywhere. When ctx
// ends first, the same call again goes on.
func (t *Team) createSegment(ctx context.Context, size uint64, notifications uint32) (*gaspi.Segment, error) {
	return t.proc.CreateSegment(ctx, gaspi.AnySegment, size, gaspi.Over(t.own), gaspi.WithNotifications(notifications))
}
