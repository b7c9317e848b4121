package agreement

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives/internal/posts"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
)

// flushMost is how long Publish waits for earlier posts to arrive, at all members together.
const flushMost = 250 * time.Millisecond

// A Poster posts to other members. Its methods block while the queue is full.
type Poster interface {
	// WriteNotify posts src, which it borrows until the operation has ended, and n behind it.
	WriteNotify(ctx context.Context, to gaspi.Remote, src gaspi.Span, n gaspi.Notification) error
	// Notify posts n to the segment of to.
	Notify(ctx context.Context, to gaspi.Remote, n gaspi.Notification) error
	// Flush blocks until all posts to the rank have arrived there, with their notifications.
	Flush(ctx context.Context, to gaspi.Rank) error
	// Unneeded returns err unless it says that the target has left normally: it did not need the post.
	Unneeded(err error) error
}

// A Mailbox is how a member that waits in vain for a while finds out why: it tells all others
// which calls it has made last, a row of notes each, and reads what they told. Two notes of one
// call that differ are the reason. It costs nothing as long as nobody waits long.
//
// A row is written at a member only when that has read the one before, which it
// says by a notification. A member therefore has a row in memory for each of the others:
// the source of a write is not changed while the write is on its way.
type Mailbox struct {
	lay     Layout
	control *gaspi.Segment
	ranks   []gaspi.Rank // by member
	me      int
	queue   Poster

	told  []uint32 // how many rows went to each member
	heard []uint32 // how many of each were read
	rows  [][]Note // what the last of them said
	knows []bool   // members that Condemn has told
}

// NewMailbox returns the mailbox of the member me in its control segment, whose part that lay
// takes holds nothing and belongs to the mailbox. ranks are borrowed.
func NewMailbox(lay Layout, control *gaspi.Segment, ranks []gaspi.Rank, me int, queue Poster) *Mailbox {
	m := &Mailbox{lay: lay, control: control, ranks: ranks, me: me, queue: queue}
	m.reset()
	return m
}

// Clear makes the mailbox as new. No post of another member can arrive any more, and no
// notification of the mailbox is set.
func (m *Mailbox) Clear() {
	clear(m.control.Bytes()[:m.lay.after])
	m.reset()
}

func (m *Mailbox) reset() {
	size := len(m.ranks)
	m.told, m.heard, m.rows, m.knows = make([]uint32, size), make([]uint32, size), make([][]Note, size), make([]bool, size)
}

// Publish tells all members which calls this one has made: those under way and some that have ended,
// at most Window of them, each of which is in mine if a later one is, or has ended. A full row says
// that all posts before it have arrived: Publish flushes the queue first, and a member where that
// does not end in flushMost gets the row without its oldest call. Publish blocks while the queue is
// full; its error is that of ctx, or of an earlier post.
func (m *Mailbox) Publish(ctx context.Context, mine []Note) error {
	flush, cancel := context.WithTimeout(ctx, flushMost)
	defer cancel()
	for member := range m.ranks {
		last := m.told[member]
		if member == m.me || last > 0 && !posts.Reached(m.control.Peek(m.lay.readNote(member)), posts.Value(last)) {
			continue // it looks at the last one, or will
		}
		notes, err := m.arrived(flush, member, mine)
		if err != nil {
			return err
		}
		from := m.lay.staged + uint64(member)*rowSize
		putRow(m.control.Bytes()[from:][:rowSize], notes)
		told, err := m.tell(ctx, member, from, m.lay.rows+uint64(m.me)*rowSize, rowSize, m.lay.rowNote(m.me), last+1)
		if err != nil {
			return err
		}
		if told {
			m.told[member]++
		}
	}
	return nil
}

// arrived returns the notes that a member may be told: mine, without the oldest if they are a full
// row and earlier posts have not arrived there before ctx ends.
func (m *Mailbox) arrived(ctx context.Context, member int, mine []Note) ([]Note, error) {
	if len(mine) < Window {
		return mine, nil
	}
	err := m.queue.Flush(ctx, m.ranks[member])
	if err == nil {
		return mine, nil
	}
	if nap.Ended(err) {
		err = nil // if it is that of the caller's context, the next post says so
	}
	oldest := slices.MinFunc(mine, earlier)
	return slices.DeleteFunc(slices.Clone(mine), func(n Note) bool { return n.Call == oldest.Call }), m.queue.Unneeded(err)
}

// earlier compares two notes by the numbers of their calls.
func earlier(a, b Note) int { return cmp.Compare(a.Call, b.Call) }

// Compare returns one of mine and the note of another member of the same call that differs from
// it, and false if there is none. It blocks while the queue is full; its error is that of ctx.
func (m *Mailbox) Compare(ctx context.Context, mine []Note) (a, b Note, differ bool, err error) {
	for member := range m.ranks {
		if member == m.me {
			continue
		}
		row, err := m.listen(ctx, member)
		if err != nil {
			return a, b, false, err
		}
		for _, theirs := range row {
			i := slices.IndexFunc(mine, func(n Note) bool { return n.Call == theirs.Call && n.Signature != theirs.Signature })
			if i >= 0 {
				return mine[i], theirs, true, nil
			}
		}
	}
	return a, b, false, nil
}

// Passed returns a note of a call after the given one, the first of a full row of them that does not
// have that call: the member has ended it, and all that it posted for it has arrived. The rows are
// those that Compare has read.
func (m *Mailbox) Passed(member int, call uint64) (later Note, ok bool) {
	row := m.rows[member]
	if len(row) < Window {
		return Note{}, false
	}
	for _, n := range row {
		switch {
		case n.Call == call:
			return Note{}, false
		case n.Call > call && (!ok || n.Call < later.Call):
			later, ok = n, true
		}
	}
	return later, ok
}

// Pending reports whether something of another member has arrived that Compare has not looked at,
// or a verdict.
func (m *Mailbox) Pending() bool {
	for member := range m.ranks {
		row := posts.Reached(m.control.Peek(m.lay.rowNote(member)), posts.Value(m.heard[member]+1))
		if row || m.control.Peek(m.lay.verdictNote(member)) != 0 {
			return true
		}
	}
	return false
}

// listen returns what a member has called, as far as it told.
func (m *Mailbox) listen(ctx context.Context, member int) ([]Note, error) {
	next := m.heard[member] + 1
	if !posts.Reached(m.control.Peek(m.lay.rowNote(member)), posts.Value(next)) {
		return m.rows[member], nil
	}
	m.rows[member] = nil
	row := m.control.Bytes()[m.lay.rows+uint64(member)*rowSize:][:rowSize]
	for b := range slices.Chunk(row, noteSize) {
		if n, ok := noteIn(b); ok {
			m.rows[member] = append(m.rows[member], n)
		}
	}
	n := gaspi.Notification{ID: m.lay.readNote(m.me), Value: posts.Value(next)}
	err := m.queue.Notify(ctx, m.control.At(m.ranks[member], 0), n)
	switch {
	case err == nil:
		m.heard[member] = next
	case nap.Ended(err):
		return nil, err
	}
	return m.rows[member], nil // if the member could not be told, the row is read again
}

// Condemn tells all members that the calls of a and b differ, and returns the two. No
// member is left out: those that hear of it end their calls, and what others wait for from
// them does not come any more. If ctx ends first, Condemn returns its error, and the next
// call tells the rest of them, of the same two calls.
func (m *Mailbox) Condemn(ctx context.Context, a, b Note) (x, y Note, err error) {
	own := m.control.Bytes()[m.lay.own:][:pairSize]
	if x, y, ok := pairIn(own); ok {
		a, b = x, y
	} else {
		a.put(own)
		b.put(own[noteSize:])
	}
	for member := range m.ranks {
		if member == m.me || m.knows[member] {
			continue
		}
		to := m.lay.verdicts + uint64(m.me)*pairSize
		if m.knows[member], err = m.tell(ctx, member, m.lay.own, to, pairSize, m.lay.verdictNote(m.me), 1); err != nil {
			return a, b, err
		}
	}
	return a, b, nil
}

// Condemned reports whether a member has condemned two calls. If it was this one, Condemned tells
// those that Condemn could not tell.
func (m *Mailbox) Condemned(ctx context.Context) (bool, error) {
	if a, b, ok := pairIn(m.control.Bytes()[m.lay.own:][:pairSize]); ok {
		_, _, err := m.Condemn(ctx, a, b)
		return true, err
	}
	for range m.Verdicts() {
		return true, nil
	}
	return false, nil
}

// Verdicts returns the calls that other members have condemned.
func (m *Mailbox) Verdicts() iter.Seq2[Note, Note] {
	return func(yield func(Note, Note) bool) {
		for member := range m.ranks {
			if m.control.Peek(m.lay.verdictNote(member)) == 0 {
				continue
			}
			b := m.control.Bytes()[m.lay.verdicts+uint64(member)*pairSize:][:pairSize]
			if x, y, ok := pairIn(b); ok && !yield(x, y) {
				return
			}
		}
	}
}

// tell writes n bytes of the control segment to another place of it at a member,
// posts a notification there for the count-th time, and reports whether it could: a member
// that is gone cannot be told. It blocks while the queue is full; its error is that of ctx.
func (m *Mailbox) tell(ctx context.Context, member int, from, to, n uint64, id gaspi.NotificationID, count uint32) (bool, error) {
	src, err := m.control.Span(from, n)
	if err != nil {
		return false, nil // the rank has closed
	}
	err = m.queue.WriteNotify(ctx, m.control.At(m.ranks[member], to), src, gaspi.Notification{ID: id, Value: posts.Value(count)})
	if nap.Ended(err) {
		return false, err
	}
	return err == nil, nil
}

// Mismatch returns the error of two notes of one call that do not match.
func (m *Mailbox) Mismatch(a, b Note) error {
	if b.Member < a.Member {
		a, b = b, a
	}
	other := ""
	if a.Text == b.Text {
		other = " of other block sizes or options, or after other plans"
	}
	return fmt.Errorf("%w: rank %d called %s and rank %d called %s%s as call %d of the team, which is unusable until Reset",
		gaspi.ErrMismatch, m.RankOf(a.Member), a.Text, m.RankOf(b.Member), b.Text, other, a.Call+1)
}

// RankOf returns the rank of the job of a member that somebody else named, -1 if there is none.
func (m *Mailbox) RankOf(member int) int {
	if member < 0 || member >= len(m.ranks) {
		return -1
	}
	return int(m.ranks[member])
}
