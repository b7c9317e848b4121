package collectives

import (
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// This file says what is recorded of calls: how many there were and how long they took, in counters, and
// when, for gaspi-run --trace. The executor records the steps in them.
//
// It is hot: every call of a team is counted here, by whoever has the team. An atomic addition would take
// 2 % of a small call, and two looks at the clock a tenth, so that few are timed.

// counters of a team, by what they count.
type counters map[[2]string]*gaspi.CollectiveCounter

// close closes all.
func (all counters) close() {
	for _, c := range all {
		c.Close()
	}
}

// counterOf returns what counts the calls of a plan, and the bytes of its longest vector.
func (t *Team) counterOf(p *Plan) (*gaspi.CollectiveCounter, uint64) {
	longest := max(len(p.task.in), len(p.task.out)) // further vectors are as long as in
	name := [2]string{p.call.Op.String(), p.variant.String()}
	if t.plans.counters[name] == nil {
		if t.plans.counters == nil {
			t.plans.counters = counters{}
		}
		t.plans.counters[name] = t.proc.CollectiveCounter(name[0], name[1])
	}
	return t.plans.counters[name], uint64(longest)
}

// A callClock times a call, if it is one of those that are timed.
type callClock struct {
	began  time.Time
	weight time.Duration // for how many calls it stands; 0 if it is not timed
}

const (
	// alwaysTimed is the size from which every call is timed: it takes more than 100 times as long as
	// two looks at the clock.
	alwaysTimed = 64 << 10
	// timedOf is in how many smaller calls one is timed. The multiples of an odd number spread evenly
	// over all words, so that a program that repeats a few calls meets each of them as often.
	timedOf     = 256
	spreadCalls = 0x9E3779B97F4A7C15
)

// start begins to time r, whose number is known. The first run of a plan is timed for itself, since it
// takes longer than those that follow.
func (c *callClock) start(r *run) {
	switch {
	case !r.p.agreed || r.p.bytes >= alwaysTimed:
		c.began, c.weight = time.Now(), 1
	case r.isTimed():
		c.began, c.weight = time.Now(), timedOf
	default:
		c.weight = 0
	}
}

// isTimed reports whether a run of a plan that is agreed on is timed.
func (r *run) isTimed() bool { return r.p.bytes >= alwaysTimed || r.call*spreadCalls < 1<<64/timedOf }

// counted counts a run that has ended well, unless it was the agreement on a plan that is not made yet.
func (r *run) counted() {
	if r.p.counter == nil {
		return
	}
	r.p.counter.Count(r.p.bytes)
	if r.clock.weight > 0 {
		r.p.counter.AddTime(r.clock.weight * time.Since(r.clock.began))
	}
}

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
