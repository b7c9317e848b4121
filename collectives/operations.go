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
	meeting *agreement.Note // of the meeting under way, nil if there is none
	met     uint64          // how many meetings have ended
}

// none reports whether no call is under way or waits.
func (o *operations) none() bool { return len(o.active) == 0 && len(o.waiting) == 0 }

// next returns the number of a call that is begun now.
func (o *operations) next() uint64 {
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
	o.recent[call%agreement.Window].note = o.meeting
}

// endMeeting ends the meeting under way, as all members do.
func (o *operations) endMeeting() {
	o.meeting = nil
	o.met++
}

// notes returns a note of each call that was begun last.
func (o *operations) notes() []agreement.Note {
	all := o.recent.notes()
	for i := range all {
		all[i].Meetings = o.met
	}
	return all
}

// begin numbers a call and begins it as soon as there is room.
func (o *operations) begin(r *run, task *Task) {
	r.call, r.err, r.state = o.next(), nil, queued
	r.bind(task)
	if r.p.busy != nil || len(o.active) >= agreement.Window || len(o.waiting) > 0 {
		o.waiting = append(o.waiting, r)
		return
	}
	o.activate(r)
}

// activate begins a run for which there is room.
func (o *operations) activate(r *run) {
	p := r.p
	p.busy = r
	r.number = p.runs
	p.runs++
	o.recent.add(r)
	clear(r.at)
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
	for len(o.waiting) > 0 && len(o.active) < agreement.Window && o.waiting[0].p.busy == nil {
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

// recents holds the calls that were begun last, by their numbers modulo the length: also those
// that have ended.
type recents [agreement.Window]struct {
	p    *Plan
	call uint64
	note *agreement.Note // of a meeting; an operation that was begun later stands instead of it
}

// add remembers that r was begun. Every call makes it.
func (c *recents) add(r *run) {
	last := &c[r.call%agreement.Window]
	last.p, last.call = r.p, r.call
}

// notes returns a note of each.
func (c *recents) notes() []agreement.Note {
	var all []agreement.Note
	for _, r := range c {
		switch {
		case r.note != nil && (r.p == nil || r.note.Call >= r.call):
			all = append(all, *r.note)
		case r.p != nil:
			all = append(all, r.p.note(r.call))
		}
	}
	return all
}
