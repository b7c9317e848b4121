package collectives

import (
	"hash/fnv"

	"github.com/gaspi-go/gaspi-go/collectives/internal/agreement"
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

// begin numbers a call and begins it as soon as there is room.
func (o *operations) begin(r *run, task *Task) {
	r.call, r.err, r.state = o.next(r.p.sign, r.p.prog.Eager()), nil, queued
	r.clock.start(r)
	r.handle.renew()
	r.bind(task)
	if len(o.waiting) > 0 || !o.hasRoom(r.p) {
		o.waiting = append(o.waiting, r)
		return
	}
	o.activate(r)
}

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
	plan    *Plan    // that members agree on before they claim its memory
	lengths *telling // of an AllToAllV
	held    holding  // an Alloc or a Release
}

// none reports whether no call ended early.
func (e *interrupted) none() bool {
	return e.single == nil && e.plan == nil && e.lengths == nil && e.held.call == 0
}

// hindered returns why a call cannot be begun whose plan has that key: another one
// ended early while members told each other lengths, or agreed on it.
func (t *Team) hindered(k key) error {
	switch {
	case t.early.lengths != nil:
		return unfinished(&t.early.lengths.task)
	case t.early.held.call != 0:
		return unfinished(t.early.held)
	case t.early.plan != nil && t.early.plan.key != k:
		return unfinished(&t.early.plan.task)
	}
	return nil
}
