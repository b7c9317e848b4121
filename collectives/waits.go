package collectives

import (
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A longWait is a sleep of a team of which gaspi.Proc.TellWait was called, once it had lasted.
type longWait struct{ ended func() }

// begin tells of the first operation under way, unless that was done.
func (w *longWait) begin(t *Team) {
	if w.ended != nil || len(t.ops.active) == 0 {
		return
	}
	r := t.ops.active[0]
	var from []gaspi.Rank
	for _, member := range r.awaited() {
		from = append(from, t.ranks[member])
	}
	w.ended = t.proc.TellWait(gaspi.LongWait{
		Call: r.p.task.String(), Detail: r.place(), Since: time.Now().Add(-t.member.Patience),
		From: from, Group: t.own, Inside: t.control,
	})
}

func (w *longWait) end() {
	if w.ended != nil {
		w.ended()
	}
}
