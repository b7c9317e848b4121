package collectives

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives/schedule"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A member that waits in vain for a while tells all others which calls it has made
// last, a row of notes each, and reads what they told: two notes of one call that
// differ are the reason. It costs nothing as long as nobody waits long.
//
// A row is written at a member only when that has read the one before, which it
// says by a notification.

// stallCheck is how long a sleep lasts before its reason is looked for, in a team of
// up to stallMembers; in larger ones it lasts longer in proportion, because the look
// is a message to everybody, over a connection that may have to be made for it.
const (
	stallCheck   = 250 * time.Millisecond
	stallMembers = 16
)

func stallAfter(members int) time.Duration {
	return stallCheck * time.Duration(max(stallMembers, members)) / stallMembers
}

// gossip is what a member remembers for the day when it waits in vain.
type gossip struct {
	recent    [window]recent // by number of the call; also of calls that have ended
	told      []uint32       // how many rows went to each member
	heard     []uint32       // how many of each were read
	rows      [][]note       // what the last of them said
	condemned bool           // a verdict went to all
}

// recent is a call that was begun.
type recent struct {
	p    *Plan
	call uint64
}

func newGossip(members int) gossip {
	return gossip{told: make([]uint32, members), heard: make([]uint32, members), rows: make([][]note, members)}
}

// heed remembers that r was begun. It is on the way of every call.
func (g *gossip) heed(r *run) { g.recent[r.call%window] = recent{r.p, r.call} }

// stalled looks for a reason why nothing goes on, and returns it.
func (t *Team) stalled() error {
	if err := t.missing(); err != nil {
		return err
	}
	if err := t.verdict(); err != nil {
		return err
	}
	mine := t.publish()
	for member := range t.ranks {
		if member == t.me {
			continue
		}
		for _, theirs := range t.listen(member) {
			i := slices.IndexFunc(mine, func(n note) bool { return n.call == theirs.call && n.signature != theirs.signature })
			if i >= 0 {
				t.condemn(mine[i], theirs)
				return t.differ(mine[i], theirs)
			}
		}
	}
	return nil
}

// publish tells all members what this one has called, and returns it.
func (t *Team) publish() []note {
	lay, g := &t.arena.lay, &t.gossip
	row := t.arena.control.Bytes()[lay.row:lay.verdicts]
	var mine []note
	for i, c := range g.recent {
		if c.p != nil {
			n := c.p.note(c.call)
			n.put(row[i*noteSize:])
			mine = append(mine, n)
		}
	}
	for member := range t.ranks {
		last := g.told[member]
		if member == t.me || last > 0 && !reached(t.arena.control.Peek(lay.readNote(member)), valueOf(last)) {
			continue // it looks at the last one, or will
		}
		to := lay.rows + uint64(t.me)*window*noteSize
		if t.tell(member, lay.row, to, window*noteSize, lay.rowNote(t.me), last+1) {
			g.told[member]++
		}
	}
	return mine
}

// listen is what a member has called, as far as it told.
func (t *Team) listen(member int) []note {
	lay, g := &t.arena.lay, &t.gossip
	next := g.heard[member] + 1
	if !reached(t.arena.control.Peek(lay.rowNote(member)), valueOf(next)) {
		return g.rows[member]
	}
	g.rows[member] = nil
	row := t.arena.control.Bytes()[lay.rows+uint64(member)*window*noteSize:][:window*noteSize]
	for b := range slices.Chunk(row, noteSize) {
		if n, ok := noteIn(b); ok {
			g.rows[member] = append(g.rows[member], n)
		}
	}
	n := gaspi.Notification{ID: lay.readNote(t.me), Value: valueOf(next)}
	if t.queue.Notify(t.arena.board[member], n) == nil { // else the row is read again
		g.heard[member] = next
	}
	return g.rows[member]
}

// condemn tells all members which two calls differ.
func (t *Team) condemn(a, b note) {
	lay := &t.arena.lay
	if t.gossip.condemned {
		return
	}
	t.gossip.condemned = true
	own := t.arena.control.Bytes()[lay.own:]
	a.put(own)
	b.put(own[noteSize:])
	for member := range t.ranks {
		if member != t.me {
			t.tell(member, lay.own, lay.verdicts+uint64(t.me)*messageSize, messageSize, lay.verdictNote(t.me), 1)
		}
	}
}

// tell writes n bytes of the control segment to another place of it at a member,
// posts a notification there for the count-th time, and reports whether it could.
// It is news for those who look; whoever cannot be told is not.
func (t *Team) tell(member int, from, to, n uint64, id gaspi.NotificationID, count uint32) bool {
	src, err := t.arena.control.Span(from, n)
	if err != nil {
		return false // the rank has closed
	}
	at := t.arena.control.At(t.ranks[member], to)
	return t.queue.WriteNotify(at, src, gaspi.Notification{ID: id, Value: valueOf(count)}) == nil
}

// verdict is what another member found wrong, or nil.
func (t *Team) verdict() error {
	lay := &t.arena.lay
	for member := range t.ranks {
		if t.arena.control.Peek(lay.verdictNote(member)) == 0 {
			continue
		}
		b := t.arena.control.Bytes()[lay.verdicts+uint64(member)*messageSize:][:messageSize]
		x, ok := noteIn(b)
		if y, too := noteIn(b[noteSize:]); ok && too {
			return t.differ(x, y)
		}
	}
	return nil
}

// missing is the end of a member that is gone, or nil.
func (t *Team) missing() error {
	for _, r := range t.ranks {
		if err := t.proc.Failure(r); err != nil {
			return err
		}
	}
	return nil
}

// blame is the end of a member if that is why err came. A member that ends gives up
// its memory first, and is known to be gone a moment later.
func (t *Team) blame(err error) error {
	if !errors.Is(err, gaspi.ErrNoSegment) && !errors.Is(err, gaspi.ErrRankDead) {
		return err
	}
	gone := func() bool { return t.missing() != nil }
	_ = t.arena.control.WaitFor(t.nap.In(context.Background(), stallCheck), gone) // however it ends
	if dead := t.missing(); dead != nil {
		return dead
	}
	return err
}

// place says which operation this is and how far it is.
func (r *run) place() string {
	done, all := 0, 0
	for i, pc := range r.at {
		done += pc
		all += len(r.p.lanes[i])
	}
	if r.state == ended {
		return fmt.Sprintf("call %d of the team", r.call+1)
	}
	return fmt.Sprintf("call %d of the team, %v, step %d of %d", r.call+1, r.p.choice, done, all)
}

// waitingFor says whom a run waits for.
func (r *run) waitingFor() string {
	t := r.p.t
	switch r.state {
	case queued:
		return "an earlier operation of the team"
	case agreeing:
		d := 1 << r.agree.round
		return fmt.Sprintf("rank %d, to agree on the call", t.ranks[((t.me-d)%len(t.ranks)+len(t.ranks))%len(t.ranks)])
	}
	var whom []string
	for _, i := range r.writers() {
		whom = append(whom, fmt.Sprintf("rank %d", t.ranks[i]))
	}
	return strings.Join(whom, ", ")
}

// writers are the members whose posts the run waits for. Only their own schedules
// say so, which are made here for the purpose.
func (r *run) writers() []int {
	p := r.p
	var waits []int32
	for i, pc := range r.at {
		if code := p.lanes[i]; pc < len(code) && code[pc].kind == schedule.Await {
			waits = append(waits, int32(uint32(code[pc].note)-p.claim.slot))
		}
	}
	var writers []int
	for i := range p.t.ranks {
		s := schedule.Build(&p.call, i, p.choice.emitter())
		if i != p.t.me && s.Posts(p.t.me, waits) {
			writers = append(writers, i)
		}
	}
	return writers
}
