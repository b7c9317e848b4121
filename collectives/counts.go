package collectives

import (
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// This file is hot: every call of a team is counted here, by whoever has the team. An atomic addition
// would take 2 % of a small call, and two looks at the clock a tenth, so that few are timed.

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
	longest := max(len(p.task.in), len(p.task.out))
	for _, v := range p.task.extra {
		longest = max(longest, len(v))
	}
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
	timedOf     = 64
	spreadCalls = 0x9E3779B97F4A7C15
)

// start begins to time r, whose number is known. The first run of a plan is timed for itself, since it
// takes longer than those that follow.
func (c *callClock) start(r *run) {
	switch {
	case !r.p.agreed || r.p.bytes >= alwaysTimed:
		c.began, c.weight = time.Now(), 1
	case r.call*spreadCalls < 1<<64/timedOf:
		c.began, c.weight = time.Now(), timedOf
	default:
		c.weight = 0
	}
}

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
