package timeline

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// A trigger says what another rank did that ended a wait.
type trigger struct {
	by    *slice
	exact bool // it posted what the wait was for; else it was the last that posted where the wait looked
}

// A mailbox is a notification of a rank, or its messages of another rank.
type mailbox struct {
	rank          int
	segment, note uint32
}

// messages is the segment of passive messages, and whole the notification that stands for all.
const (
	messages = math.MaxUint32
	whole    = math.MaxUint32
)

// A meetingPlace is a call that all members of a group make.
type meetingPlace struct {
	kind          trace.Action
	group, number uint32
}

// posted are the posts to a mailbox by their begin, of which the first next are spent.
type posted struct {
	events []*slice
	next   int
}

// join finds what ended each wait.
func (t *Timeline) join() {
	t.links = map[*slice]trigger{}
	boxes, meetings := map[mailbox]*posted{}, map[meetingPlace][]*slice{}
	for _, r := range t.ranks {
		for _, l := range r.lanes {
			for _, e := range l.events {
				switch e.Kind.Class() {
				case trace.Post:
					drop(boxes, e)
				case trace.Meeting:
					at := meetingPlace{e.Kind, e.Segment, e.Value}
					meetings[at] = append(meetings[at], e)
				}
			}
		}
	}
	for _, p := range boxes {
		slices.SortStableFunc(p.events, func(a, b *slice) int { return cmp.Compare(a.Begin, b.Begin) })
	}
	for _, r := range t.ranks {
		t.joinRank(r, boxes)
		t.arrange(r)
	}
	for _, all := range meetings {
		for _, e := range all {
			if last := lastOf(all, e); last != e {
				t.links[e] = trigger{by: last, exact: true}
			}
		}
	}
	t.recall()
}

// drop puts a post where it goes.
func drop(boxes map[mailbox]*posted, e *slice) {
	put := func(at mailbox) {
		if boxes[at] == nil {
			boxes[at] = &posted{}
		}
		boxes[at].events = append(boxes[at].events, e)
	}
	switch {
	case e.Kind == trace.PassiveSend:
		put(mailbox{int(e.Peer), messages, uint32(e.lane.rank.number)})
	case e.Count > 0:
		put(mailbox{int(e.Peer), e.Segment, e.Note})
		put(mailbox{int(e.Peer), e.Segment, whole})
	}
}

// joinRank finds what ended the waits of a rank.
func (t *Timeline) joinRank(r *rankEvents, boxes map[mailbox]*posted) {
	var waits []*slice
	for _, l := range r.lanes {
		for _, e := range l.joins {
			if e.Kind.Class() == trace.Wait {
				waits = append(waits, e)
			}
		}
	}
	slices.SortStableFunc(waits, func(a, b *slice) int { return cmp.Compare(a.End, b.End) })
	for _, w := range waits {
		var by *slice
		switch {
		case w.Kind == trace.StepWait && w.Count > 0:
			by = t.first(w, boxes)
		case w.Kind == trace.PassiveReceive:
			by = boxes[mailbox{r.number, messages, uint32(w.Peer)}].take(w, t.slack)
		case w.Count > 0:
			for note := w.Note; note-w.Note < min(w.Count, mostNotes); note++ {
				if p := boxes[mailbox{r.number, w.Segment, note}].take(w, t.slack); p != nil && (by == nil || p.Begin > by.Begin) {
					by = p
				}
			}
		}
		if by != nil && !w.numbers(by) && by.lane.rank.leftOut(by.End, w.End) {
			continue // a later post may have ended it
		}
		if by != nil {
			t.links[w] = trigger{by: by, exact: true}
		} else if by := boxes[mailbox{r.number, w.Segment, whole}].last(w, t.slack); by != nil && w.Count == 0 && w.Kind != trace.StepAwait && w.Kind != trace.StepAwaitCredit {
			t.links[w] = trigger{by: by} // not of a step that has waited in vain
		}
	}
}

// arrange makes the outermost of a row of waits, which ends last, that for the post that came last: this ended it.
func (t *Timeline) arrange(r *rankEvents) {
	for _, l := range r.lanes {
		for _, e := range l.joins {
			if e.row == nil || t.links[e].by == nil {
				continue
			}
			if last := t.links[e.row].by; last == nil || t.links[e].by.Begin > last.Begin {
				a, b := e, e.row
				a.Segment, a.Note, a.Count, a.Value, b.Segment, b.Note, b.Count, b.Value = b.Segment, b.Note, b.Count, b.Value, a.Segment, a.Note, a.Count, a.Value
				t.links[a], t.links[b] = t.links[b], t.links[a]
			}
		}
	}
}

// first returns the post that ended a wait for any of several steps, which is the first of those that it may have been,
// and notes at the wait which it was.
func (t *Timeline) first(w *slice, boxes map[mailbox]*posted) (by *slice) {
	all := append([]trace.Record{w.Record}, w.others...)
	for _, rec := range all {
		one := &slice{Record: rec, lane: w.lane}
		if p := boxes[mailbox{w.lane.rank.number, rec.Segment, rec.Note}].take(one, t.slack); p != nil && (by == nil || p.Begin < by.Begin) {
			by, w.Note, w.Value = p, rec.Note, rec.Value
		}
	}
	return by
}

// numbers reports whether a wait of a collective operation was under way when its post came: the value of the post is
// a running number, which no other post can have had meanwhile.
func (e *slice) numbers(by *slice) bool { return e.Kind.Step() && by.Begin >= e.Begin }

// mostNotes bounds how many notifications of one wait are looked at.
const mostNotes = 1 << 12

// take returns the post that a wait saw, and spends it with those before it: the last that began
// before the wait ended, else the first that began soon after, as far as it was recorded late, or the next one, if it
// is of a step whose number says so. It is nil if there is none.
func (p *posted) take(w *slice, slack int64) *slice {
	if p == nil {
		return nil
	}
	rest := p.events[p.next:]
	fits := func(e *slice) bool { return w.Count != 1 || w.Value == 0 || e.Adds || e.Value == w.Value }
	before := sort.Search(len(rest), func(i int) bool { return rest[i].Begin > w.End })
	for i := before - 1; i >= 0; i-- {
		if fits(rest[i]) {
			p.next += i + 1
			return rest[i]
		}
	}
	for i := before; i < len(rest) && rest[i].Begin <= w.End+slack; i++ {
		if fits(rest[i]) {
			p.next += i + 1
			return rest[i]
		}
	}
	if before < len(rest) && rest[before].late(w, slack) {
		p.next += before + 1
		return rest[before]
	}
	return nil
}

// last returns the last post that came while w waited, or nil.
func (p *posted) last(w *slice, slack int64) *slice {
	if p == nil {
		return nil
	}
	i := sort.Search(len(p.events), func(i int) bool { return p.events[i].Begin > w.End+slack })
	if i > 0 && p.events[i-1].End >= w.Begin {
		return p.events[i-1]
	}
	return nil
}

// lastOf returns which of the calls that met with e began last. Calls of one meeting are under way at
// one time; those of equal groups, which have equal numbers, need not be.
func lastOf(all []*slice, e *slice) *slice {
	last := e
	for _, other := range all {
		if other.Begin <= e.End && other.End >= e.Begin && other.Begin > last.Begin {
			last = other
		}
	}
	return last
}
