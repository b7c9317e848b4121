package collectives

import (
	"context"
	"errors"

	"github.com/gaspi-go/gaspi-go/collectives/internal/meeting"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
)

// A reset is how far a Reset has come.
type reset int

const (
	gathering  reset = iota // until all members are in Reset
	arriving                // until all posts of all members have arrived
	comparing               // which segment some have begun to make and others have not
	counting                // the plans of NewPlan that all members have made
	matching                // these
	catchingUp              // with the segment
	cleaning                // what this member alone does
	parting                 // when all have done that
)

// resetting has the segments that the team makes, which Reset has to know of, and how far a Reset
// that ended early has come.
type resetting struct {
	segments  making
	step      reset
	behind    bool // others have begun to make a segment that this member has not
	kept      bool // some member has the last segment from an Alloc
	plans     int  // so many plans of NewPlan, the first, are compared next
	alike     int  // so many are the same on all members
	unlike    int  // so many are not
	releasing int  // the allocation of a Release that has ended early
}

// Reset makes a team usable again after an error: all operations under way are
// given up, and all plans are as new; those of NewPlan that not all members have made are closed,
// with what was made after them. It is collective over all members, which must be alive, and blocks.
// If a member has left the job, the team is revoked. A team that was revoked stays revoked: see
// Shrink. The contents of the buffers of abandoned operations are undefined. When ctx ends first, the
// team is unusable until another call of Reset has completed. Reset also abandons an Alloc that ended
// early, and completes a Release that did, if all members were in it. Members that wait for this one
// in other calls get an error (gaspi.ErrMismatch) that says that it called Reset.
func (t *Team) Reset(ctx context.Context) error {
	if !t.engine.Enter() {
		return refused("reset")
	}
	defer t.engine.Leave()
	if t.closed {
		return teamError("reset", gaspi.ErrClosed)
	}
	if t.broken == errSplitting {
		return teamError("reset", t.unusable())
	}
	if err := t.own.Revoked(); err != nil {
		return teamError("reset", t.fail(err))
	}
	if held := t.early.held; held.call == meeting.Release {
		t.resetting.releasing = held.alloc
	}
	t.abandon()
	t.ops.meet(t.ops.calls, t.me, "reset")
	if t.broken == nil {
		t.broken = errResetting
	}
	if err := t.reset(ctx); err != nil {
		if f, ok := errors.AsType[*gaspi.RankError](err); ok && f.Left {
			_ = t.own.Revoke(err) // others may wait for this member in the same Reset, and not for f.Rank
		}
		return teamError("reset", t.lost(err))
	}
	return nil
}

// reset does the steps of a Reset from the one that the last call came to.
func (t *Team) reset(ctx context.Context) error {
	for {
		var err error
		switch t.resetting.step {
		case gathering:
			err = t.gather(ctx)
		case arriving:
			err = t.settlePosts(ctx)
		case counting:
			err = t.countPlans(ctx)
		case matching:
			err = t.matchPlans(ctx)
		case comparing:
			err = t.compare(ctx)
		case catchingUp:
			err = t.catchUp(ctx)
		case cleaning:
			t.clean()
			t.resetting.step = parting
		case parting:
			if _, err = t.patience(undisturbed).Talk(ctx, t.own, t.says(meeting.Reset)); err == nil {
				t.resetting.step, t.broken, t.ops = gathering, nil, operations{}
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// undisturbed is for talks in which all members are in the same call, as they know.
func undisturbed(context.Context) error { return nil }

// gather meets until all members say that they are in Reset: some may have to end an
// earlier meeting first. Members that wait in other calls for this one are told that it
// does not come.
func (t *Team) gather(ctx context.Context) error {
	heard, err := t.patience(t.tellOfReset).Talk(ctx, t.own, t.says(meeting.Reset))
	switch {
	case err != nil:
		return err
	case heard.Of(meeting.Reset):
		t.resetting.step = arriving
	case heard.Of(meeting.Release) && heard.Alike() && !heard.Declined(): // an earlier one, well ended
		_ = t.drop(t.resetting.releasing) // as Release does at the others
	}
	return nil
}

// tellOfReset tells members that wait for this one in other calls that it is in Reset. If some
// member has told them of two calls already, they end anyway.
func (t *Team) tellOfReset(ctx context.Context) error {
	condemned, err := t.mail.Condemned(ctx)
	if err == nil && !condemned {
		err = t.contrast(ctx)
	}
	if nap.Ended(err) {
		return err
	}
	return nil // this member needs no reason
}

// settlePosts waits until nothing that was posted before can arrive any more at any member.
func (t *Team) settlePosts(ctx context.Context) error {
	if err := t.arrive(ctx); err != nil {
		return err
	}
	heard, err := t.patience(undisturbed).Talk(ctx, t.own, t.says(meeting.Reset))
	if err != nil {
		return err
	}
	t.resetting.step = counting
	if uneven, behind := heard.Uneven(t.resetting.segments.count); uneven {
		t.resetting.step, t.resetting.behind = comparing, behind
	}
	return nil
}

// compare tells those members about a segment that have not begun to make it.
func (t *Team) compare(ctx context.Context) error {
	say := t.resetting.segments.last
	if t.resetting.behind {
		say = 0
	}
	last := []uint64{say}
	if err := gaspi.AllReduce(ctx, t.own, last, last, gaspi.Or); err != nil {
		return err
	}
	if t.resetting.behind {
		t.resetting.segments.count++
		t.resetting.segments.last, t.resetting.segments.early = last[0], true
	}
	t.resetting.step = counting
	return nil
}

// countPlans finds out how many plans all members have made by NewPlan.
func (t *Team) countPlans(ctx context.Context) error {
	made := []uint64{uint64(t.plans.made)}
	if err := gaspi.AllReduce(ctx, t.own, made, made, gaspi.Min); err != nil {
		return err
	}
	n := int(made[0])
	t.resetting.step, t.resetting.plans, t.resetting.alike, t.resetting.unlike = matching, n, 0, n+1
	return nil
}

// A match is what members say of their first plans: a number of matchBits bits that only equal
// plans have in common, and whether this member has the last segment from an Alloc.
const (
	matchBits = 31
	matchKept = 1 << (2 * matchBits)
)

// matchPlans compares the first plans of all members, once or, where they differ, as often as a
// binary search takes, and then closes those from the first difference on.
func (t *Team) matchPlans(ctx context.Context) error {
	say := meeting.Number(t.plans.first(t.resetting.plans), matchBits)
	if made := &t.resetting.segments; made.kept && !made.early {
		say |= matchKept
	}
	heard := []uint64{say}
	if err := gaspi.AllReduce(ctx, t.own, heard, heard, gaspi.Or); err != nil {
		return err
	}
	r := &t.resetting
	if meeting.Equal(heard[0], matchBits) {
		r.alike = r.plans
	} else {
		r.unlike = r.plans
	}
	if r.plans = (r.alike + r.unlike) / 2; r.plans > r.alike {
		return nil
	}
	t.plans.keepFirst(r.alike)
	r.step, r.kept = catchingUp, heard[0]&matchKept != 0
	return nil
}

// catchUp ends the making of a segment that was begun. Memory of the arena stays, as at the
// members that have ended it before. So does an allocation that others have from their Alloc,
// which nobody uses here; else the Alloc is given up.
func (t *Team) catchUp(ctx context.Context) error {
	if t.resetting.segments.early {
		seg, err := t.createSegment(ctx, t.resetting.segments.last>>1, 1)
		t.resetting.segments.early = nap.Ended(err)
		switch {
		case nap.Ended(err):
			return err
		case err == nil && t.resetting.segments.last&1 == 1 && t.resetting.kept:
			t.heap.Add(seg, true)
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
	t.ops = operations{meeting: t.ops.meeting}
	t.plans.forgetSingle()
	for _, p := range t.plans.byKey {
		p.renew()
	}
	t.arena.Sweep(t.plans.claims())
}
