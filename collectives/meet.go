package collectives

import (
	"context"
	"fmt"
	"math/bits"
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// All that members do together beside operations, they do in meetings: reductions over the
// team's own group, one after the other. When ctx ends in one, the next call that meets
// goes on with it, with what was said at its beginning. So no member is ever a meeting
// ahead of where the others take it to be: all hear the same, and whoever hears of another
// call than its own knows that the calls do not match.

// Flags of a meeting: the call that holds it, and more.
const (
	meetFlush uint64 = 1 << iota
	meetAlloc
	meetRelease
	meetReset
	meetUnable // this member cannot take part
	meetMade   // the first of three bits: how many segments this one began to make, modulo 3

	meetCalls = meetUnable - 1
)

// meet says something and returns what all members say. It is collective.
func (t *Team) meet(ctx context.Context, call, more uint64) (heard uint64, err error) {
	word := []uint64{call | more | meetMade<<(t.resetting.segments.count%3)}
	if err := gaspi.AllReduce(ctx, t.own, word, word, gaspi.Or); err != nil {
		return 0, err
	}
	return word[0], nil
}

// sameCall is the error if some member said that it makes another call, or nil.
func sameCall(heard, call uint64) error {
	if heard&meetCalls == call {
		return nil
	}
	var calls []string
	for i, name := range []string{"an operation that needs memory", "Alloc", "Release", "Reset"} {
		if heard>>i&1 == 1 {
			calls = append(calls, name)
		}
	}
	return fmt.Errorf("%w: members called different things at the same time: %s", gaspi.ErrMismatch, strings.Join(calls, ", "))
}

// making is the segments that a team makes. They differ by one at most between members:
// none ends before all have begun it.
type making struct {
	count int    // that were begun
	last  uint64 // bytes of the last one, shifted by 1, and whether it is of Alloc
	early bool   // it ended early
}

// newSegment makes a segment over the team under an id that is free everywhere. When ctx
// ends first, the same call again goes on.
func (t *Team) newSegment(ctx context.Context, size uint64, notifications uint32, alloc bool) (*gaspi.Segment, error) {
	m := &t.resetting.segments
	if !m.early {
		m.count++
		m.last = size << 1
		if alloc {
			m.last |= 1
		}
	}
	seg, err := t.proc.CreateSegment(ctx, gaspi.AnySegment, size, gaspi.Over(t.own), gaspi.WithNotifications(notifications))
	m.early = ctxErr(err)
	return seg, err
}

// A reset is how far a Reset has come.
type reset int

const (
	gathering  reset = iota // until all members are in Reset, and posts have arrived
	comparing               // which segment some have begun to make and others have not
	catchingUp              // with it
	cleaning                // what this member alone does
	parting                 // when all have done that
)

// resetting has the segments that the team makes, which Reset has to know of, and how far a Reset
// that ended early has come.
type resetting struct {
	segments making
	step     reset
	behind   bool // others have begun to make a segment that this member has not
}

// reset does the steps of a Reset from the one that the last call came to.
func (t *Team) reset(ctx context.Context) error {
	for {
		var err error
		switch t.resetting.step {
		case gathering:
			err = t.gather(ctx)
		case comparing:
			err = t.compare(ctx)
		case catchingUp:
			err = t.catchUp(ctx)
		case cleaning:
			t.clean()
			t.resetting.step = parting
		case parting:
			if _, err = t.meet(ctx, meetReset, 0); err == nil {
				t.resetting.step, t.broken = gathering, nil
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// gather meets until all members say that they are in Reset: some may have to end an
// earlier meeting first. Nothing that was posted before can arrive after it.
func (t *Team) gather(ctx context.Context) error {
	if err := t.arrive(ctx); err != nil {
		return err
	}
	heard, err := t.meet(ctx, meetReset, 0)
	if err != nil || heard&meetCalls != meetReset {
		return err
	}
	t.resetting.step = catchingUp
	if bits.OnesCount64(heard/meetMade&7) > 1 {
		t.resetting.step, t.resetting.behind = comparing, heard/meetMade>>((t.resetting.segments.count+1)%3)&1 == 1
	}
	return nil
}

// compare tells those members about a segment that have not begun to make it.
func (t *Team) compare(ctx context.Context) error {
	say := t.resetting.segments.last
	if t.resetting.behind {
		say = 0
	}
	word := []uint64{say}
	if err := gaspi.AllReduce(ctx, t.own, word, word, gaspi.Or); err != nil {
		return err
	}
	if t.resetting.behind {
		t.resetting.segments.count++
		t.resetting.segments.last, t.resetting.segments.early = word[0], true
	}
	t.resetting.step = catchingUp
	return nil
}

// catchUp ends the making of a segment that was begun. Memory of the arena stays, as at
// the members that have ended it before; an Alloc is given up.
func (t *Team) catchUp(ctx context.Context) error {
	if t.resetting.segments.early {
		size := t.resetting.segments.last >> 1
		seg, err := t.newSegment(ctx, size, 1, t.resetting.segments.last&1 == 1)
		switch {
		case ctxErr(err):
			return err
		case err == nil && t.resetting.segments.last&1 == 1:
			_ = seg.Delete() // just made
		case err == nil:
			t.arena.Add(seg)
		}
	}
	t.resetting.step = cleaning
	return nil
}

// clean makes this member's part of the team as new.
func (t *Team) clean() {
	t.unpost()
	t.mail.Clear()
	t.ops = operations{}
	t.plans.forgetSingle()
	for _, p := range t.plans.byKey {
		p.renew()
	}
	t.arena.Sweep(t.plans.claims())
}
