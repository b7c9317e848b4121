package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// A Leg of the critical path is a time in which one rank delayed all others.
type Leg struct {
	Rank     base.Rank
	Call     string // what it did, or Outside; of a wait, from the post that ended it on
	From, To int64  // nanoseconds since the first event
}

// Outside is the Leg.Call of a rank that was in no call.
const Outside = "(outside of calls)"

// Path returns the critical path in the order of time: backwards from what ended last, and from each
// wait to the rank whose post ended it. It is as long as the timeline as far as that is known. Cut
// says that it begins where records were dropped.
func (t *Timeline) Path() (path []Leg, cut bool) {
	w := &walker{t: t, used: map[*slice]bool{}}
	last := t.lastEvent()
	if last == nil {
		return nil, false
	}
	w.lane, w.at = last.lane, last.End
	for w.step() {
	}
	slices.Reverse(w.path)
	return w.path, w.lane.rank.dropped > 0
}

// lastEvent returns what ended last; nil in a timeline without events.
func (t *Timeline) lastEvent() (last *slice) {
	for _, r := range t.ranks {
		for _, l := range r.lanes {
			for _, e := range l.events {
				if last == nil || e.End > last.End {
					last = e
				}
			}
		}
	}
	return last
}

// A walker goes backwards through a timeline.
type walker struct {
	t    *Timeline
	lane *track
	at   int64
	path []Leg // the last first
	used map[*slice]bool
}

// blocks is how long a wait lasts at least, in nanoseconds, if it did not find at once what it was for.
const blocks = 1000

// step goes to the wait before, and from there to the rank that ended it; it returns false at the end.
func (w *walker) step() bool {
	if w.through(w.lane, w.at) {
		return true
	}
	// The goroutine began here, because of another one: the last of its rank that was woken before.
	begin := w.lane.events[0].Begin
	w.add(begin, w.at)
	w.at = min(w.at, begin)
	var best *track
	for _, l := range w.lane.rank.lanes {
		if e := w.blocked(l, w.at); e != nil && (best == nil || e.End > w.blocked(best, w.at).End) {
			best = l
		}
	}
	if best != nil && w.through(best, w.at) {
		return true
	}
	if first := w.lane.rank.first; first < w.at {
		w.stage(w.lane.rank, Outside, first, w.at)
	}
	return false
}

// through goes from a time of a lane to the wait before it, and to the rank that ended that.
func (w *walker) through(l *track, at int64) bool {
	e := w.blocked(l, at)
	if e == nil {
		return false
	}
	w.used[e] = true
	by := w.t.links[e].by
	w.lane = l
	w.add(e.End, at)
	from := by.End // what it posts goes out until then
	if e.Kind.Class() == trace.Meeting {
		from = by.Begin
	}
	from = min(from, e.End)
	call := e.label()
	if e.Kind.Class() == trace.Wait {
		call += fmt.Sprintf(" (posted by rank %d)", by.lane.rank.number)
	}
	w.stage(l.rank, call, from, e.End)
	w.lane, w.at = by.lane, from
	return true
}

// blocked returns the last wait of a lane that had ended at a time, and that another rank had ended.
func (w *walker) blocked(l *track, at int64) *slice {
	i := sort.Search(len(l.joins), func(i int) bool { return l.joins[i].End > at })
	for i--; i >= 0; i-- {
		e := l.joins[i]
		by := w.t.links[e].by
		if by == nil || by.lane.rank == l.rank || w.used[e] {
			continue
		}
		if by.Begin >= e.Begin || e.Kind.Class() == trace.Wait && e.End-e.Begin >= blocks {
			return e
		}
	}
	return nil
}

// add adds what the lane did in a time.
func (w *walker) add(from, to int64) {
	for i := sort.Search(len(w.lane.pieces), func(i int) bool { return w.lane.pieces[i].from >= to }) - 1; i >= 0 && to > from; i-- {
		p := w.lane.pieces[i]
		if p.to < to { // after the last event
			w.stage(w.lane.rank, Outside, max(p.to, from), to)
			to = max(p.to, from)
		}
		call := Outside
		if p.in != nil {
			call = p.in.label()
		}
		w.stage(w.lane.rank, call, max(p.from, from), to)
		to = max(p.from, from)
	}
	w.stage(w.lane.rank, Outside, from, to)
}

func (w *walker) stage(r *rankEvents, call string, from, to int64) {
	if to <= from {
		return
	}
	s := Leg{Rank: base.Rank(r.number), Call: call, From: from - w.t.origin, To: to - w.t.origin}
	if n := len(w.path); n > 0 && w.path[n-1].Rank == s.Rank && w.path[n-1].Call == call && w.path[n-1].From == s.To {
		w.path[n-1].From = s.From
		return
	}
	w.path = append(w.path, s)
}

// A Share is how much of the critical path a rank spent in a call.
type Share struct {
	Rank base.Rank
	Call string
	Time time.Duration
}

// Shares adds up a path by rank and call, the longest first.
func Shares(path []Leg) (shares []Share) {
	type key struct {
		rank base.Rank
		call string
	}
	sums := map[key]time.Duration{}
	for _, s := range path {
		sums[key{s.Rank, s.Call}] += time.Duration(s.To - s.From)
	}
	for k, d := range sums {
		shares = append(shares, Share{k.rank, k.call, d})
	}
	slices.SortFunc(shares, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Call, b.Call))
	})
	return shares
}
