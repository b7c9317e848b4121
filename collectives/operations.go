package collectives

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/gaspi-go/gaspi-go/collectives/internal/agreement"
	"github.com/gaspi-go/gaspi-go/collectives/internal/meeting"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
)

// operations holds the calls of a team: how many there were, which are under way, and which were
// begun last.
type operations struct {
	calls   uint64 // so far, which number them
	agreed  uint64 // agreements begun so far
	active  []*run // under way, in the order of their calls
	waiting []*run // not begun because too many are under way, or their plan is
	recent  recents
	trail   agreement.Trail // of all calls
	meeting *agreement.Note // of the meeting under way, nil if there is none
	met     uint64          // how many meetings have ended
	napped  uint64          // the earliest call under way when a nap last ended, from 1
}

// lasts reports, when a nap has ended, whether the earliest call under way was that when the one before
// ended. A nap is of many waits, one after the other, and may end just after a call has begun: nothing
// is wrong then, though every member would tell all others of its calls.
func (o *operations) lasts() bool {
	before := o.napped
	o.napped = o.first() + 1
	return o.napped == before
}

// none reports whether no call is under way or waits.
func (o *operations) none() bool { return len(o.active) == 0 && len(o.waiting) == 0 }

// next returns the number of a call that is begun now, of a signature, and notes whether this member
// may end it without hearing of others.
func (o *operations) next(signature uint64, alone bool) uint64 {
	o.trail.Add(signature, alone)
	o.calls++
	return o.calls - 1
}

// first returns the number of the earliest call under way, or that of the next call if there is
// none.
func (o *operations) first() uint64 {
	switch {
	case len(o.active) > 0:
		return o.active[0].call
	case o.meeting != nil:
		return o.meeting.Call
	}
	return o.calls
}

// meet begins a meeting as the call of that number, of the member me.
func (o *operations) meet(call uint64, me int, text string) {
	h := fnv.New64a()
	h.Write([]byte(text)) // never fails
	o.meeting = &agreement.Note{Call: call, Signature: h.Sum64(), Member: me, Text: text}
	*o.entry(call) = recent{note: o.meeting}
}

// meetNext is meet as the next call.
func (o *operations) meetNext(me int, text string) {
	o.meet(o.calls, me, text)
	o.next(o.meeting.Signature, false)
}

// endMeeting ends the meeting under way, as all members do.
func (o *operations) endMeeting() {
	o.meeting = nil
	o.met++
}

// notes returns a note of each call under way, and of those that were begun last among the others.
// A call that was begun before one of them and is not among them has ended.
func (o *operations) notes() []agreement.Note {
	all := o.recent.notes()
	for i := range all {
		all[i].Meetings = o.met
	}
	return all
}

// entry returns the entry for a call that is begun now: that of its number or, if a call under way has
// that, the entry of the call that was begun first among those that have ended.
func (o *operations) entry(call uint64) *recent {
	own := &o.recent[call%agreement.Window]
	if !o.underWay(own) {
		return own
	}
	var first *recent
	for i := range o.recent {
		e := &o.recent[i]
		if !o.underWay(e) && (first == nil || e.number() < first.number()) {
			first = e
		}
	}
	return first // fewer than Window calls are under way
}

// underWay reports whether the call of an entry has not ended.
func (o *operations) underWay(e *recent) bool {
	if e.isMeeting() {
		return e.note == o.meeting
	}
	return e.p != nil && e.p.busy != nil && e.p.busy.call == e.call
}

// recents holds the calls under way and those that were begun last, most by their numbers modulo the
// length.
type recents [agreement.Window]recent

// A recent is a call: a run of p, or a meeting.
type recent struct {
	p    *Plan
	call uint64
	note *agreement.Note // of a meeting; an operation that was begun later stands instead of it
}

// add remembers that r was begun while no other call is under way.
func (c *recents) add(r *run) {
	last := &c[r.call%agreement.Window]
	last.p, last.call = r.p, r.call
}

// isMeeting reports whether the call is a meeting.
func (e *recent) isMeeting() bool { return e.note != nil && (e.p == nil || e.note.Call >= e.call) }

// number returns the number of the call, 0 if there is none.
func (e *recent) number() uint64 {
	if e.isMeeting() {
		return e.note.Call
	}
	return e.call
}

// notes returns a note of each.
func (c *recents) notes() []agreement.Note {
	var all []agreement.Note
	for i := range c {
		switch e := &c[i]; {
		case e.isMeeting():
			all = append(all, *e.note)
		case e.p != nil:
			all = append(all, e.p.note(e.call))
		}
	}
	return all
}

// interrupted holds the call that ended early, for the same call to go on with.
type interrupted struct {
	single  *run
	in, out *byte    // where its buffers begin, which it gives back when it ends
	others  []*byte  // and its further ones
	plan    *Plan    // that members agree on before they claim its memory
	lengths *telling // of an AllToAllV
	held    holding  // an Alloc or a Release
}

// none reports whether no call ended early.
func (e *interrupted) none() bool {
	return e.single == nil && e.plan == nil && e.lengths == nil && e.held.call == 0
}

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
	return meeting.Patience{Limit: t.member.Patience, Stalled: stalled, Cut: func() error { return t.cut(stalled) }}
}

// unnamed is the error of a meeting in which members were in different calls, if it is not known
// which.
func (t *Team) unnamed() error {
	return fmt.Errorf("%w: this rank called %s as call %d of the team, and another member another call; the team is unusable until Reset",
		gaspi.ErrMismatch, t.ops.meeting.Text, t.ops.meeting.Call+1)
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
