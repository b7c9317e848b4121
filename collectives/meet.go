package collectives

import (
	"context"
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// All that members do together beside operations, they do in meetings: reductions over the
// team's own group, one after the other. When ctx ends in one, the next call that meets
// goes on with it, with what was said at its beginning. So no member is ever a meeting
// ahead of where the others take it to be: all hear the same, and whoever hears of another
// call than its own knows that the calls do not match.
//
// A meeting has a number among the calls of the team. A member that waits in one therefore finds
// out, as one that waits in an operation does, that another member has made another call instead.

// Flags of a meeting: the call that holds it, and more.
const (
	meetFlush uint64 = 1 << iota
	meetAlloc
	meetRelease
	meetReset
	meetSplit
	meetUnable // this member cannot take part
	meetMade   // the first of three bits: how many segments this one began to make, modulo 3

	meetCalls = meetUnable - 1
)

// The rest of a word is a number of meetBits bits that only calls that match have in common, and
// its complement: they have a bit in common when members have said different numbers.
const (
	meetSame = meetMade << 3
	meetBits = 27
	meetMask = 1<<meetBits - 1
)

// A word is what members say in a meeting, or all that they say.
type word uint64

// of reports whether all members that said it are in one call.
func (w word) of(call uint64) bool { return uint64(w)&meetCalls == call }

// unable reports whether some member that said it cannot take part.
func (w word) unable() bool { return uint64(w)&meetUnable != 0 }

// alike reports whether all members that said it said the same number.
func (w word) alike() bool { return uint64(w)/meetSame&(uint64(w)/meetSame>>meetBits)&meetMask == 0 }

// meet makes sure that all members are in the same call, which a flag and a text name, and have
// nothing against it: wrong is what this one has, or nil. It is collective, and blocks. When ctx
// ends first, the same call again goes on. Any other error is one at all members, and the team
// is unusable unless it says that some member cannot take part.
func (t *Team) meet(ctx context.Context, call uint64, text string, wrong error) error {
	if t.ops.meeting == nil {
		t.ops.meetNext(t.me, text)
	}
	say := t.says(call)
	if wrong != nil {
		say |= word(meetUnable)
	}
	heard, err := t.talk(ctx, say, t.stalled)
	switch {
	case ctxErr(err):
		return err
	case err != nil:
		return t.fail(err)
	case !heard.of(call), !heard.alike() && !heard.unable():
		return t.fail(t.mismatch(ctx, t.unnamed()))
	}
	t.ops.endMeeting()
	if wrong == nil && heard.unable() {
		wrong = errUnable
	}
	return wrong
}

// errUnable is why members do nothing of which one of them said what is wrong.
var errUnable = fmt.Errorf("%w: another member cannot take part, and says why", gaspi.ErrMismatch)

// says returns what this member says of the meeting under way, which a flag names.
func (t *Team) says(call uint64) word {
	n := t.ops.meeting
	same := (n.Signature ^ n.Call*0x9e3779b97f4a7c15) >> (64 - meetBits)
	if call == meetReset {
		same = 0 // members may have stopped at different calls
	}
	return word(call | meetMade<<(t.resetting.segments.count%3) | (same|(^same&meetMask)<<meetBits)*meetSame)
}

// talk says something and returns what all members say. It is collective, and blocks. After
// every wait for the patience of the team it calls stalled, and ends with the error of that.
func (t *Team) talk(ctx context.Context, say word, stalled func(context.Context) error) (heard word, err error) {
	w := []uint64{uint64(say)}
	err = t.patiently(ctx, func(ctx context.Context) error { return gaspi.AllReduce(ctx, t.own, w, w, gaspi.Or) }, stalled)
	return word(w[0]), err
}

// patiently makes a call that goes on when it is made again, each time with the patience of the team,
// and stalled after it, until one of the two ends or ctx does. It blocks.
func (t *Team) patiently(ctx context.Context, call, stalled func(context.Context) error) error {
	for {
		limited, cancel := context.WithTimeout(ctx, t.member.Patience)
		err := call(limited)
		cancel()
		if !ctxErr(err) {
			return err
		}
		if ended := ctx.Err(); ended != nil {
			return endedWith(ended, err)
		}
		if err := stalled(ctx); err != nil {
			return err
		}
	}
}

// endedWith returns the error of a call whose context ended with err and whose caller's context ended
// at that moment, too: that of the caller's, with the rest of the text.
func endedWith(ended, err error) error {
	if call, ok := errors.AsType[*gaspi.OpError](err); ok {
		said := *call
		said.Err = ended
		return &said
	}
	return ended
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
		case err != nil && !ctxErr(err):
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
			text = holding{call: meetAlloc, size: size}.String()
		}
		t.ops.meetNext(t.me, text)
	}
	var seg *gaspi.Segment
	err := t.patiently(ctx, func(ctx context.Context) (err error) {
		seg, err = t.createSegment(ctx, size, 1)
		m.early = ctxErr(err)
		return err
	}, t.stalled)
	switch {
	case !m.early:
		t.ops.endMeeting()
		return seg, err
	case ctxErr(err):
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
