package executor

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives/internal/posts"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// This file is hot: it is how a run waits for the posts of peers.

// await blocks until the posts of a row of awaits have arrived, which begins at an instruction of code; those from
// another one on were done in this walk. It returns the last await of the row, or, if the wait ended early, the first.
func (e *Execution) await(ctx context.Context, code []instruction, from, at int) (int, error) {
	row := code[at : at+int(code[at].row)]
	last := at + len(row) - 1
	e.reach(code[from:at])
	if !e.stretch.kept && e.polled(row) {
		return last, nil
	}
	if !e.quick(row) {
		if err := e.waitRow(e.member.Nap(ctx), row); err != nil {
			return at, err
		}
	}
	return last, e.checkAll(row)
}

// polled reports whether the data of all awaits of a row has come with its values: then it is that of this run.
func (e *Execution) polled(row []instruction) bool {
	for i := range row {
		in := &row[i]
		if !in.line || !e.member.Control.PollLine(in.offset+e.shifts[in.to%rotations], e.notification(in).Value) {
			return false
		}
	}
	return true
}

// Wait blocks until all posts have arrived that the run waits for next. The executable has one
// lane, which Advance has stopped in.
func (e *Execution) Wait(ctx context.Context) error {
	rest := e.of.lanes[0][e.next[0]:]
	return e.waitRow(ctx, rest[:rest[0].row])
}

// waits reports whether an instruction waits for a post in this run.
func (e *Execution) waits(in *instruction) bool {
	return in.kind == schedule.Await || in.kind == schedule.AwaitCredit && e.number&e.of.batch == 0
}

// arrived reports whether the post that an instruction waits for is there. An eager slot has another
// stamp then than the last run has left in it.
func (e *Execution) arrived(in *instruction) bool {
	n := e.notification(in)
	v := e.member.Control.Peek(n.ID)
	if in.eager {
		return v != e.before
	}
	return posts.Reached(v, n.Value)
}

// waitFor blocks until the post has arrived that an instruction waits for.
func (e *Execution) waitFor(ctx context.Context, in *instruction) error {
	n := e.notification(in)
	if in.eager {
		return e.member.Control.WaitUntil(ctx, n.ID, gaspi.NotEqual, e.before)
	}
	return e.member.Control.WaitUntil(ctx, n.ID, gaspi.Reached, n.Value)
}

// waitRow blocks until the posts of a row of awaits have arrived.
func (e *Execution) waitRow(ctx context.Context, row []instruction) error {
	if len(row) == 1 {
		return e.waitFor(ctx, &row[0])
	}
	m := e.member
	m.row.of, m.row.rest = e, row
	if m.row.look == nil {
		m.row.look = m.row.arrived
	}
	return m.Control.WaitFunc(ctx, m.row.look)
}

// An awaitRow is the awaits in a row that a member waits for. One wait for all of them is entered
// and left once.
type awaitRow struct {
	of   *Execution
	rest []instruction // that have not arrived
	look func() bool   // made once, so that waiting allocates nothing
}

// arrived reports whether all posts of the row are there.
func (r *awaitRow) arrived() bool {
	for len(r.rest) > 0 && r.of.arrived(&r.rest[0]) {
		r.rest = r.rest[1:]
	}
	return len(r.rest) == 0
}

// Ready reports whether some lane can go on.
func (e *Execution) Ready() bool {
	for i, code := range e.of.lanes {
		if at := e.next[i]; at < len(code) && (!e.waits(&code[at]) || e.arrived(&code[at])) {
			return true
		}
	}
	return false
}

// Awaited returns the slots whose posts lanes wait for, those of a whole row of awaits.
func (e *Execution) Awaited() []int32 {
	var slots []int32
	for i, code := range e.of.lanes {
		at := e.next[i]
		if at == len(code) || !e.waits(&code[at]) {
			continue
		}
		for j := range int(code[at].row) {
			if in := &code[at+j]; !e.arrived(in) {
				slots = append(slots, e.of.slotOf(in))
			}
		}
	}
	return slots
}

// Steps returns how many instructions are done, and how many there are.
func (e *Execution) Steps() (done, all int) {
	for i, code := range e.of.lanes {
		done += e.next[i]
		all += len(code)
	}
	return done, all
}
