package collectives

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives/schedule"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A member that waits in vain for a while tells all others which calls it has
// under way, one row of notes each, and reads what they told: two notes of one
// call that differ are the reason. It costs nothing as long as nobody waits long.

// stallCheck is how long a sleep lasts before its reason is looked for.
const stallCheck = 250 * time.Millisecond

// stalled looks for a reason why nothing goes on, and returns it.
func (t *Team) stalled() error {
	if err := t.missing(); err != nil {
		return err
	}
	if err := t.verdict(); err != nil {
		return err
	}
	mine := t.publish()
	lay := &t.arena.lay
	rows := t.arena.control.Bytes()[lay.rows:lay.row]
	for member := range t.ranks {
		row := rows[member*window*noteSize:][:window*noteSize]
		for b := range slices.Chunk(row, noteSize) {
			theirs, ok := noteIn(b)
			if !ok || member == t.me {
				continue
			}
			i := slices.IndexFunc(mine, func(n note) bool { return n.call == theirs.call && n.signature != theirs.signature })
			if i >= 0 {
				t.condemn(mine[i], theirs)
				return t.differ(mine[i], theirs)
			}
		}
	}
	return nil
}

// publish tells all members what is under way here, and returns it.
func (t *Team) publish() []note {
	lay := &t.arena.lay
	row := t.arena.control.Bytes()[lay.row:lay.verdicts]
	var mine []note
	for _, r := range t.active {
		n := r.p.note(r.call)
		n.put(row[r.call%window*noteSize:])
		mine = append(mine, n)
	}
	t.tell(lay.row, lay.rows+uint64(t.me)*window*noteSize, window*noteSize)
	return mine
}

// condemn tells all members which two calls differ.
func (t *Team) condemn(a, b note) {
	lay := &t.arena.lay
	own := t.arena.control.Bytes()[lay.own:]
	a.put(own)
	b.put(own[noteSize:])
	t.tell(lay.own, lay.verdicts+uint64(t.me)*messageSize, messageSize)
}

// tell writes n bytes of the control segment to another place of it at all other
// members. It is news for those who look; whoever cannot be told is not.
func (t *Team) tell(from, to, n uint64) {
	src, err := t.arena.control.Span(from, n)
	if err != nil {
		panic(err) // the layout places it in the segment
	}
	for i, r := range t.ranks {
		if i != t.me {
			if err := t.queue.Write(t.arena.control.At(r, to), src); err == gaspi.ErrQueueFull {
				return // next time
			}
		}
	}
}

// verdict is what another member found wrong, or nil.
func (t *Team) verdict() error {
	lay := &t.arena.lay
	all := t.arena.control.Bytes()[lay.verdicts:lay.own]
	for b := range slices.Chunk(all, messageSize) {
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
