package collectives

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A member that waits in vain for a while tells all others which calls it has made
// last, a row of notes each, and reads what they told: two notes of one call that
// differ are the reason. It costs nothing as long as nobody waits long.
//
// A row is written at a member only when that has read the one before, which it
// says by a notification. A member therefore has a row in memory for each of the others:
// the source of a write is not changed while the write is on its way.

// stallCheck is how long a sleep lasts before its reason is looked for, in a team of
// up to stallMembers; in larger ones it lasts longer in proportion, because the look
// is a message to everybody, over a connection that may have to be made for it.
const (
	stallCheck   = 250 * time.Millisecond
	stallMembers = 16
)

// pingMost is how long it may take to find out what became of a member: others wait meanwhile.
const pingMost = stallCheck

func stallAfter(members int) time.Duration {
	return stallCheck * time.Duration(max(stallMembers, members)) / stallMembers
}

// gossip is what a member remembers for the day when it waits in vain.
type gossip struct {
	recent [window]recent // by number of the call; also of calls that have ended
	told   []uint32       // how many rows went to each member
	heard  []uint32       // how many of each were read
	rows   [][]note       // what the last of them said
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

// stalled looks for a reason why nothing goes on, and returns it. It blocks where the queue
// is full, until earlier messages have left it.
func (t *Team) stalled(ctx context.Context) error {
	if err := cmp.Or(t.missing(), t.absent()); err != nil {
		return err
	}
	if err := t.verdict(); err != nil {
		return err
	}
	mine, err := t.publish(ctx)
	if err != nil {
		return err
	}
	for member := range t.ranks {
		if member == t.me {
			continue
		}
		rows, err := t.listen(ctx, member)
		if err != nil {
			return err
		}
		for _, theirs := range rows {
			i := slices.IndexFunc(mine, func(n note) bool { return n.call == theirs.call && n.signature != theirs.signature })
			if i >= 0 {
				return t.condemn(ctx, mine[i], theirs)
			}
		}
	}
	return nil
}

// publish tells all members what this one has called, and returns it.
func (t *Team) publish(ctx context.Context) ([]note, error) {
	lay, g := &t.arena.lay, &t.gossip
	var mine []note
	for _, c := range g.recent {
		if c.p != nil {
			mine = append(mine, c.p.note(c.call))
		}
	}
	for member := range t.ranks {
		last := g.told[member]
		if member == t.me || last > 0 && !reached(t.arena.control.Peek(lay.readNote(member)), valueOf(last)) {
			continue // it looks at the last one, or will
		}
		from := lay.staged + uint64(member)*rowSize
		putRow(t.arena.control.Bytes()[from:][:rowSize], mine)
		told, err := t.tell(ctx, member, from, lay.rows+uint64(t.me)*rowSize, rowSize, lay.rowNote(t.me), last+1)
		if err != nil {
			return nil, err
		}
		if told {
			g.told[member]++
		}
	}
	return mine, nil
}

// putRow writes notes, at most window of them, into row, and clears the rest of it.
func putRow(row []byte, notes []note) {
	for i, n := range notes {
		n.put(row[i*noteSize:])
	}
	clear(row[len(notes)*noteSize:])
}

// listen is what a member has called, as far as it told.
func (t *Team) listen(ctx context.Context, member int) ([]note, error) {
	lay, g := &t.arena.lay, &t.gossip
	next := g.heard[member] + 1
	if !reached(t.arena.control.Peek(lay.rowNote(member)), valueOf(next)) {
		return g.rows[member], nil
	}
	g.rows[member] = nil
	row := t.arena.control.Bytes()[lay.rows+uint64(member)*rowSize:][:rowSize]
	for b := range slices.Chunk(row, noteSize) {
		if n, ok := noteIn(b); ok {
			g.rows[member] = append(g.rows[member], n)
		}
	}
	n := gaspi.Notification{ID: lay.readNote(t.me), Value: valueOf(next)}
	err := t.post(ctx, func() error { return t.queue.Notify(t.arena.board[member], n) })
	switch {
	case err == nil:
		g.heard[member] = next
	case ctxErr(err):
		return nil, err
	}
	return g.rows[member], nil // if the member could not be told, the row is read again
}

// condemn tells all members which two calls differ, and returns the error that says so. No
// member is left out: those that hear of it end their calls, and what others wait for from
// them does not come any more. If ctx ends first, condemn returns its error, and the next
// look for a reason tells all of them again, of the same two calls.
func (t *Team) condemn(ctx context.Context, a, b note) error {
	lay := &t.arena.lay
	own := t.arena.control.Bytes()[lay.own:][:messageSize]
	if x, y, ok := verdictIn(own); ok {
		a, b = x, y
	} else {
		a.put(own)
		b.put(own[noteSize:])
	}
	for member := range t.ranks {
		if member == t.me {
			continue
		}
		to := lay.verdicts + uint64(t.me)*messageSize
		if _, err := t.tell(ctx, member, lay.own, to, messageSize, lay.verdictNote(t.me), 1); err != nil {
			return err
		}
	}
	return t.why(a, b)
}

// why returns the error of a verdict, or nil if it names a member as having left and this rank
// does not know of that yet, or is in a call before the one that cannot be completed.
func (t *Team) why(a, b note) error {
	if a.text != hasLeft {
		return t.differ(a, b)
	}
	if len(t.active) > 0 && t.active[0].call < a.call {
		return nil
	}
	if f := t.proc.Failure(gaspi.Rank(t.rankOf(a.member))); f != nil {
		return f
	}
	return nil
}

// verdictIn returns the two notes in b, and false if there are none.
func verdictIn(b []byte) (x, y note, ok bool) {
	x, ok = noteIn(b)
	y, too := noteIn(b[noteSize:])
	return x, y, ok && too
}

// tell writes n bytes of the control segment to another place of it at a member,
// posts a notification there for the count-th time, and reports whether it could: a member
// that is gone cannot be told. It blocks while the queue is full; its error is that of ctx.
func (t *Team) tell(ctx context.Context, member int, from, to, n uint64, id gaspi.NotificationID, count uint32) (bool, error) {
	src, err := t.arena.control.Span(from, n)
	if err != nil {
		return false, nil // the rank has closed
	}
	at := t.arena.control.At(t.ranks[member], to)
	err = t.post(ctx, func() error {
		return t.queue.WriteNotify(at, src, gaspi.Notification{ID: id, Value: valueOf(count)})
	})
	if ctxErr(err) {
		return false, err
	}
	return err == nil, nil
}

// verdict returns the error that another member found, or nil.
func (t *Team) verdict() error {
	lay := &t.arena.lay
	for member := range t.ranks {
		if t.arena.control.Peek(lay.verdictNote(member)) == 0 {
			continue
		}
		b := t.arena.control.Bytes()[lay.verdicts+uint64(member)*messageSize:][:messageSize]
		if x, y, ok := verdictIn(b); ok {
			if err := t.why(x, y); err != nil {
				return err
			}
		}
	}
	return nil
}

// missing returns the error of the first member that died or was lost, or nil. A member that
// left normally is not missing: others may still wait for each other after its last call.
func (t *Team) missing() error {
	return t.firstFailure(func(f *gaspi.RankError) bool { return !f.Left })
}

// gone returns the error of the first member that died, was lost, or left, or nil.
func (t *Team) gone() error {
	return t.firstFailure(func(*gaspi.RankError) bool { return true })
}

// firstFailure returns the first of those failures of members that count, or nil.
func (t *Team) firstFailure(counts func(*gaspi.RankError) bool) error {
	var ranks []gaspi.Rank
	for _, r := range t.ranks {
		if f := t.proc.Failure(r); f != nil && counts(f) {
			ranks = append(ranks, r)
		}
	}
	if f := t.proc.FirstFailure(ranks); f != nil {
		return f
	}
	return nil
}

// absent returns the error of a member that left normally although an operation under way
// waits for it, or nil. Everything that such a member sent has arrived.
func (t *Team) absent() error {
	var left []int
	for i, r := range t.ranks {
		if f := t.proc.Failure(r); f != nil && f.Left && t.proc.Silent(r) {
			left = append(left, i)
		}
	}
	if len(left) == 0 {
		return nil
	}
	for _, r := range t.active {
		for _, i := range r.awaited() {
			if slices.Contains(left, i) {
				return t.proc.Failure(t.ranks[i])
			}
		}
	}
	return nil
}

// tellOfLeaver tells all members that r has left and that this member needed it, so that
// those that wait for this member end too. A member whose queue stays full hears of it when
// this one leaves. It names the first call that this member does not complete: others
// complete the calls before it.
func (t *Team) tellOfLeaver(r gaspi.Rank) {
	n := note{call: t.calls, member: slices.Index(t.ranks, r), text: hasLeft}
	if len(t.active) > 0 {
		n.call = t.active[0].call
	}
	_ = t.condemn(t.nap.In(context.Background(), stallCheck), n, n) // the caller returns the reason
}

// hasLeft is the text of a note about a member that left. No call has it.
const hasLeft = "-"

// leaving is how long a member may take to leave, from the moment when it gives up its memory
// until others hear of its end.
const leaving = 2 * time.Second

// blame returns the end of a member if that is why err came. A member that ends gives up
// its memory first, and is known to be gone a moment later. It may have ended because
// another one had, and that is known when somebody tells of its own end.
func (t *Team) blame(err error) error {
	if revoked := t.own.Revoked(); revoked != nil { // it says why others have given up
		return revoked
	}
	if gone, ok := errors.AsType[*gaspi.RankError](err); ok {
		ctx, cancel := context.WithTimeout(context.Background(), pingMost)
		_ = t.proc.Ping(ctx, gone.Rank) // it waits for that
		cancel()
	} else if errors.Is(err, gaspi.ErrNoSegment) {
		gone := func() bool { return t.gone() != nil }
		_ = t.arena.control.WaitFor(t.nap.In(context.Background(), leaving), gone) // however it ends
	} else {
		return err
	}
	return cmp.Or(t.missing(), t.gone(), err)
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
	return fmt.Sprintf("call %d of the team, %v, step %d of %d", r.call+1, r.p.variant, done, all)
}

// waitingFor returns a text that names the ranks a run waits for.
func (r *run) waitingFor() string {
	if r.state == queued {
		return "an earlier operation of the team"
	}
	var names []string
	for _, i := range r.awaited() {
		names = append(names, fmt.Sprintf("rank %d", r.p.t.ranks[i]))
	}
	if r.state == agreeing {
		names = append(names, "to agree on the call")
	}
	return strings.Join(names, ", ")
}

// awaited returns the members that the run waits for.
func (r *run) awaited() []int {
	t := r.p.t
	switch r.state {
	case queued:
		return nil
	case agreeing:
		if r.agree.arrived(t) {
			return nil
		}
		d := 1 << r.agree.round
		return []int{((t.me-d)%len(t.ranks) + len(t.ranks)) % len(t.ranks)}
	}
	return r.writers()
}

// writers returns the members whose posts the run waits for. Only their own schedules
// say so, which are made here for the purpose.
func (r *run) writers() []int {
	p := r.p
	var waits []int32
	for i, pc := range r.at {
		if code := p.lanes[i]; pc < len(code) && code[pc].kind == schedule.Await && !r.arrived(&code[pc]) {
			waits = append(waits, int32(uint32(code[pc].note)-p.claim.slot))
		}
	}
	var writers []int
	for i := range p.t.ranks {
		s := schedule.Build(&p.call.Call, i, p.variant.Emitter())
		if i != p.t.me && s.Posts(p.t.me, waits) {
			writers = append(writers, i)
		}
	}
	return writers
}
