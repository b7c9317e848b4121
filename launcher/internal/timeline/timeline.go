package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// A RankLog is what one rank has recorded.
type RankLog struct {
	Host  string
	Clock Clock
	Log   trace.Log
}

// A Timeline is what all ranks have recorded, by the clock here.
type Timeline struct {
	ranks  []*rankEvents
	links  map[*slice]trigger
	origin int64 // the time of the first event
	slack  int64 // by how much times of two ranks may be wrong against each other
}

// The rankEvents of a rank are in lanes.
type rankEvents struct {
	number  int
	host    string
	names   []string
	lanes   []*track
	beside  []*slice // operations, which belong to no lane
	first   int64    // when its first event began; MaxInt64 without any
	since   int64    // from when on nothing was dropped; MinInt64 if nothing was
	dropped uint64
	skipped uint64
	gaps    []gap // in which records were left out, by their end
}

// A gap is a time in which a rank did short things that were not recorded.
type gap struct{ from, to int64 }

// A track has the events of a goroutine, by their begin; those that hold others come before them.
type track struct {
	rank   *rankEvents
	number int // from 1
	events []*slice
	joins  []*slice // those that another rank may have ended, by their end
	pieces []piece  // what the lane did when
}

// A slice is a record with its place.
type slice struct {
	trace.Record
	lane   *track
	parent *slice // the one around it, or nil
	read   int64  // the look at the clock for its begin

	// row is the outermost of a row of waits, which were one wait for all of their posts; nil of that, and of others.
	row *slice
	// others are further posts of which the first has ended the wait, as records of the same wait.
	others []trace.Record
}

// New makes a timeline of what each rank has recorded; index is the rank.
func New(sources []RankLog) *Timeline {
	t := &Timeline{slack: slackHere}
	for number, s := range sources {
		t.ranks = append(t.ranks, newRank(number, s))
		t.slack = max(t.slack, slackHere+2*s.Clock.Error())
	}
	t.origin = math.MaxInt64
	for _, r := range t.ranks {
		t.origin = min(t.origin, r.first)
	}
	t.join()
	return t
}

// slackHere is how late a small post is recorded at most, in nanoseconds, but for a rank that loses
// its core meanwhile.
const slackHere = 2000

func newRank(number int, s RankLog) *rankEvents {
	r := &rankEvents{number: number, host: s.Host, names: s.Log.Names, dropped: s.Log.Dropped, skipped: s.Log.Skipped}
	byLane := map[uintptr][]*slice{}
	r.since = math.MinInt64
	before := int64(math.MinInt64) // the end of the record before
	for i, rec := range s.Log.Records {
		rec.Begin, rec.End = s.Clock.Here(rec.Begin), s.Clock.Here(rec.End)
		if i == 0 && r.dropped > 0 {
			r.since = rec.End
		}
		if rec.Skipped > 0 {
			r.gaps = append(r.gaps, gap{before, rec.End})
		}
		before = rec.End
		lane := byLane[rec.Lane]
		switch e := (&slice{Record: rec, read: rec.Begin}); {
		case rec.Kind == trace.Operation:
			r.beside = append(r.beside, e)
		case len(lane) > 0 && e.sameWait(lane[len(lane)-1]):
			first := lane[len(lane)-1]
			first.others = append(first.others, rec)
		default:
			byLane[rec.Lane] = append(lane, e)
		}
	}
	var lanes [][]*slice
	for _, events := range byLane {
		slices.SortStableFunc(events, outerFirst)
		spread(events)
		lanes = append(lanes, nested(events)...)
	}
	slices.SortFunc(lanes, func(a, b []*slice) int {
		return cmp.Or(cmp.Compare(a[0].Begin, b[0].Begin), cmp.Compare(a[0].Lane, b[0].Lane))
	})
	for i, events := range lanes {
		l := &track{rank: r, number: i + 1, events: events}
		for _, e := range events {
			e.lane = l
		}
		l.cut()
		r.lanes = append(r.lanes, l)
	}
	slices.SortFunc(r.gaps, func(a, b gap) int { return cmp.Compare(a.to, b.to) })
	for _, e := range r.beside {
		e.lane = &track{rank: r}
	}
	r.first = math.MaxInt64
	for _, l := range r.lanes {
		r.first = min(r.first, l.events[0].Begin)
	}
	return r
}

// sameWait reports whether an event is a record of the same wait for any of several steps as the one before.
func (e *slice) sameWait(before *slice) bool {
	return e.Kind == trace.StepWait && before.Kind == trace.StepWait && e.Begin == before.Begin && e.End == before.End
}

// leftOut reports whether the rank may have posted something between two times that was not recorded.
func (r *rankEvents) leftOut(from, to int64) bool {
	i, _ := slices.BinarySearchFunc(r.gaps, from, func(g gap, t int64) int { return cmp.Compare(g.to, t) })
	for ; i < len(r.gaps); i++ {
		if g := r.gaps[i]; g.to > from && g.from < to {
			return true
		}
	}
	return false
}

// outerFirst orders events by their begin, and those that hold others before them.
func outerFirst(a, b *slice) int {
	return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(b.End, a.End), cmp.Compare(b.Kind, a.Kind))
}

// spread gives posts of no length, of which several began at one time, a nanosecond each, one after the other, and makes
// what is around them as long: an arrow begins in the innermost event of its time. Events are ordered by outerFirst, also
// when it returns.
func spread(events []*slice) {
	for i := 0; i < len(events); {
		begin, j, posts := events[i].Begin, i, int64(0)
		for ; j < len(events) && events[j].Begin == begin; j++ {
			if events[j].instant() {
				posts++
			}
		}
		room := posts
		if j < len(events) {
			room = min(room, events[j].Begin-begin)
		}
		if posts > 1 {
			at := int64(0)
			for _, e := range events[i:j] {
				if e.instant() {
					e.Begin = begin + min(at, room-1)
					e.End = e.Begin + 1
					at++
				} else {
					e.End = max(e.End, begin+room)
				}
			}
			slices.SortStableFunc(events[i:j], outerFirst)
		}
		i = j
	}
}

// instant reports whether an event is a post of no length.
func (e *slice) instant() bool { return e.Kind.Class() == trace.Post && e.Begin == e.End }

// crooked is how far, in nanoseconds, an event may reach beyond the one around it for a fault of the
// clock, and is cut.
const crooked = 1000

// nested returns events such that each is inside of another or apart from it, in one lane, or in more
// where goroutines are not told apart. It notes which event is around which.
func nested(events []*slice) (lanes [][]*slice) {
	for len(events) > 0 {
		var in, out, around []*slice
		for _, e := range events {
			for len(around) > 0 && around[len(around)-1].End <= e.Begin {
				around = around[:len(around)-1]
			}
			if n := len(around); n > 0 {
				outer := around[n-1]
				if e.End > outer.End+crooked {
					out = append(out, e)
					continue
				}
				e.End, e.parent = min(e.End, outer.End), outer
				if e.inRow(outer) { // so that each has a time at which it is the innermost, for its arrow
					e.End = max(e.Begin, e.End-1)
					if e.row = outer.row; e.row == nil {
						e.row = outer
					}
				}
			}
			in, around = append(in, e), append(around, e)
		}
		lanes, events = append(lanes, in), out
	}
	return lanes
}

// inRow reports whether two events are one wait for all of several posts.
func (e *slice) inRow(outer *slice) bool {
	return e.Kind.Step() && outer.Kind.Step() && e.Kind.Class() == trace.Wait && outer.Kind.Class() == trace.Wait &&
		e.Begin == outer.Begin && e.End == outer.End
}

// A piece of a lane is a time in which one event, or none, was the innermost.
type piece struct {
	from, to int64
	in       *slice
}

// cut finds the pieces of a lane.
func (l *track) cut() {
	l.joins, l.pieces = nil, nil
	at := l.events[0].Begin
	var around []*slice
	add := func(to int64, in *slice) {
		if to > at {
			l.pieces = append(l.pieces, piece{at, to, in})
			at = to
		}
	}
	pop := func(until int64) {
		for n := len(around); n > 0 && around[n-1].End <= until; n = len(around) {
			add(around[n-1].End, around[n-1])
			around = around[:n-1]
		}
	}
	inner := func() *slice {
		if len(around) == 0 {
			return nil
		}
		return around[len(around)-1]
	}
	for _, e := range l.events {
		pop(e.Begin)
		add(e.Begin, inner())
		around = append(around, e)
		if c := e.Kind.Class(); c == trace.Wait || c == trace.Meeting {
			l.joins = append(l.joins, e)
		}
	}
	pop(1<<63 - 1)
	slices.SortStableFunc(l.joins, func(a, b *slice) int { return cmp.Compare(a.End, b.End) })
}

// text is what an event is called.
func (e *slice) text() string {
	if e.Name != 0 {
		return e.lane.rank.names[e.Name]
	}
	return e.Kind.String()
}

// label is what an event is called, with the call or the stretch of the program around it.
func (e *slice) label() string {
	for outer := e.parent; outer != nil; outer = outer.parent {
		if outer.Name != 0 {
			return e.text() + " in " + outer.text()
		}
	}
	return e.text()
}
