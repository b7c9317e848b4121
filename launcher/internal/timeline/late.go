package timeline

import (
	"math"
	"slices"
	"sort"

	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// This file is about posts of steps that were recorded after the waits had ended that they ended: a rank loses its core
// between a post and its look at the clock. Which post it was is known by its value all the same, a running number.

// late reports whether e, the first post to its notification that was recorded after w had ended, ended w.
//
// It may be of another plan or team, which number anew. Then the first run of that comes before it, which is recorded
// always, with the time before its posts: one of these is the first after w, or, as a credit is only posted
// in some runs, the call is between w and e. Neither can be overwritten, where there are still records of before w.
func (e *slice) late(w *slice, slack int64) bool {
	return e.numbered(w) && e.lane.before(e.read) <= w.End+slack && e.lane.rank.since <= w.End-slack
}

// numbered reports whether a post and a wait are of steps, and have the same number.
func (e *slice) numbered(w *slice) bool {
	return e.Kind.Step() && w.Kind.Step() && e.Value == w.Value
}

// before returns when the goroutine last looked at the clock before a time, as far as it has recorded that, else
// MinInt64.
func (l *track) before(at int64) int64 {
	i := sort.Search(len(l.pieces), func(i int) bool { return l.pieces[i].from >= at })
	if i == 0 {
		return math.MinInt64
	}
	return l.pieces[i-1].from
}

// recall moves posts of steps that were recorded late to a nanosecond before the ends of the waits that they ended.
func (t *Timeline) recall() {
	latest := map[*slice]int64{} // of such posts: when they were made at the latest
	var lanes []*track
	for w, by := range t.links { // some of a row have none
		if e := by.by; e != nil && e.numbered(w) && e.Begin > lastNano(w) {
			latest[e] = lastNano(w)
			if !slices.Contains(lanes, e.lane) {
				lanes = append(lanes, e.lane)
			}
		}
	}
	for _, l := range lanes {
		l.recall(latest)
	}
}

// recall is Timeline.recall for a lane. Posts by one look at the clock stay in their order.
// One stays where it is if there is no time before the wait's end and after the look at the clock before, as when
// clocks are wrong.
func (l *track) recall(latest map[*slice]int64) {
	var next *slice // that was moved
	for _, e := range slices.Backward(l.events) {
		if e.Kind.Class() != trace.Post {
			continue
		}
		at, late := latest[e]
		if !late {
			at = e.Begin
		}
		if next != nil && e.brief() {
			at = min(at, next.Begin-1)
		}
		if at < e.Begin && at > l.before(e.read) {
			e.begin(at)
			next = e
		}
	}
	slices.SortStableFunc(l.events, outerFirst)
	l.cut()
	l.rank.first = min(l.rank.first, l.events[0].Begin)
}

// brief reports whether the time of a post was not taken: see spread.
func (e *slice) brief() bool { return e.End-e.Begin <= 1 }

// begin makes a post begin earlier, and what is around it. Steps that began by its look at the clock are behind it.
func (e *slice) begin(at int64) {
	if e.brief() {
		e.End -= e.Begin - at
	}
	e.Begin = at
	for outer := e.parent; outer != nil && outer.Begin > at; outer = outer.parent {
		if outer.Kind.Step() {
			e.End, e.parent = min(e.End, outer.Begin), outer.parent
		} else {
			outer.Begin = at
		}
	}
}
