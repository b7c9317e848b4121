package collectives

import (
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A longWait is a sleep of a team of which gaspi.Proc.TellWait was called once it had lasted, and again
// when it was for others.
type longWait struct {
	ended func()
	since time.Time
	run   *run // what was told of, in a state, which waited for slots
	state runState
	slots []int32
}

// told tells of the first operation under way by tell, unless that was done and it still waits for the same
// posts. It is cheap then: the members that post are known from the schedules of all.
func (w *longWait) told(t *Team, tell func(gaspi.LongWait) (ended func())) {
	if len(t.ops.active) == 0 {
		return
	}
	r := t.ops.active[0]
	slots := r.awaitedSlots()
	if w.ended == nil {
		w.since = time.Now().Add(-t.member.Patience)
	} else if w.run == r && w.state == r.state && slices.Equal(w.slots, slots) {
		return
	}
	w.run, w.state, w.slots = r, r.state, slots
	var from []gaspi.Rank
	for _, member := range r.awaited() {
		from = append(from, t.ranks[member])
	}
	ended := tell(gaspi.LongWait{
		Call: r.p.task.String(), Detail: r.place(), Since: w.since,
		From: from, Group: t.own, Inside: t.control,
	})
	w.end()
	w.ended = ended
}

func (w *longWait) end() {
	if w.ended != nil {
		w.ended()
	}
}

// awaitedSlots returns what tells apart for whom the run waits: slots, or the member that it agrees with.
func (r *run) awaitedSlots() []int32 {
	switch r.state {
	case queued:
		return nil
	case agreeing:
		return []int32{int32(r.agree.Awaited(r.p.t.mail))}
	}
	return r.exec.Awaited()
}
