package executor

import (
	"context"
	"fmt"
)

// This file is hot: it is what sends through eager memory do beside puts and awaits.

// A StrayError says that what arrived in an eager slot was sent in another call than this one: the
// members have not made the same calls.
type StrayError struct {
	Slot int32
	Call uint32 // number of the sender's call, modulo 2^31
}

// Error says which call it was.
func (e *StrayError) Error() string {
	return fmt.Sprintf("what arrived in slot %d was sent in call %d", e.Slot, e.Call+1)
}

// check returns a *StrayError if what has arrived in an eager slot is of another call.
func (e *Execution) check(in *instruction) error {
	n := e.notification(in)
	if v := e.member.Control.Peek(n.ID); v != n.Value {
		return &StrayError{Slot: e.of.slotOf(in), Call: uint32(v) >> 1}
	}
	return nil
}

// checkAll is check of those of some awaits that wait for eager slots.
func (e *Execution) checkAll(row []instruction) error {
	for i := range row {
		if row[i].eager {
			if err := e.check(&row[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// credits reports whether this is the last run of a batch.
func (e *Execution) credits() bool { return (e.number+1)&e.of.batch == 0 }

// credit gives the copies of a batch of runs back. It blocks until sources in them are free, and
// while the queue is full.
func (e *Execution) credit(ctx context.Context, in *instruction) error {
	if e.of.puts {
		if err := e.member.WaitQueue(ctx); err != nil {
			return err
		}
	}
	if err := e.put(in); err != nil {
		return e.insist(ctx, in, err)
	}
	return nil
}
