package collectives

import "github.com/gaspi-go/gaspi-go/internal/trace"

// This file records calls for gaspi-run --trace. The executor records the steps in them.

// recordCall records a call that has waited for an operation.
func (t *Team) recordCall(name trace.Name, begun int64) {
	if tl := t.member.Timeline; tl != nil {
		tl.Add(&trace.Record{Kind: trace.Collective, Name: name, Begin: begun})
	}
}

// recordQuick is recordCall of a run of a single lane, if the executor has recorded its steps.
func (r *run) recordQuick(err error) {
	tl := r.p.t.member.Timeline
	if tl == nil {
		return
	}
	begun, ended, kept := r.exec.Recorded()
	if err != nil {
		ended = 0
	}
	if kept {
		tl.Add(&trace.Record{Kind: trace.Collective, Name: r.p.name, Begin: begun, End: ended})
	}
}

// recordRun records an operation that Start has begun, by whichever goroutines it went on.
func (r *run) recordRun() {
	if tl := r.p.t.member.Timeline; tl != nil && r.begun != 0 {
		tl.Add(&trace.Record{Kind: trace.Operation, Name: r.p.name, Begin: r.begun})
		r.begun = 0
	}
}

// recordAwait records a wait that await has ended. Its records say which posts the wait was for, in a single lane,
// or which were there when it ended.
func (t *Team) recordAwait(begun int64) {
	if t.member.Timeline == nil {
		return
	}
	if r := t.alone(); r != nil {
		t.seen = r.exec.Waited(t.seen[:0])
	} else {
		t.seen = t.arrivals(t.seen)
	}
	t.recordSleep(begun, t.seen)
}

// arrivals returns records of the awaits of all operations under way whose posts are there, in the memory of to; none
// if something else than a post may have ended a wait for them.
func (t *Team) arrivals(to []trace.Record) []trace.Record {
	to = to[:0]
	for _, r := range t.ops.active {
		switch {
		case r.blocked:
		case r.state == agreeing:
			if r.agree.Arrived(t.mail) {
				return to[:0]
			}
		default:
			var waits bool
			if to, waits = r.exec.Arrivals(to); !waits {
				return to[:0]
			}
		}
	}
	return to
}

// recordSleep records a wait for any of the operations under way: one record for each of the posts that may have
// ended it, or one without a post.
func (t *Team) recordSleep(begun int64, by []trace.Record) {
	tl := t.member.Timeline
	if tl == nil {
		return
	}
	ended := tl.Now()
	if len(by) == 0 {
		tl.Add(&trace.Record{Kind: trace.StepWait, Begin: begun, End: ended, Segment: uint32(t.control.ID())})
	}
	for i := range by {
		by[i].Begin, by[i].End = begun, ended
		tl.Add(&by[i])
	}
}
