package collectives

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives/internal/agreement"
	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/collectives/internal/executor"
	"github.com/gaspi-go/gaspi-go/collectives/internal/loss"
	"github.com/gaspi-go/gaspi-go/collectives/internal/meeting"
	"github.com/gaspi-go/gaspi-go/collectives/internal/memory"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// openMemory makes the control segment and the arena in it.
func (t *Team) openMemory(ctx context.Context) error {
	lay := agreement.LayoutOf(len(t.ranks))
	bell := uint32(lay.Notifications()) + t.cfg.Slots // behind those of plans
	seg, err := t.createSegment(ctx, lay.Size()+min(t.cfg.Scratch, firstSlab), bell+1, gaspi.Sparse())
	if err != nil {
		return err
	}
	t.control = seg
	t.background = background{t: t, bell: gaspi.Notification{ID: gaspi.NotificationID(bell), Value: 1}}
	t.engine.Prepare(&t.background)
	t.arena = memory.New(seg, lay.Size(), lay.Notifications(), memory.Limits{Scratch: t.cfg.Scratch, Slots: t.cfg.Slots})
	t.members = loss.Members{Proc: t.proc, Ranks: t.ranks, Group: t.own, Control: seg}
	t.member = executor.Member{
		Proc: t.proc, Queue: t.queue, Control: seg, Ranks: t.ranks, Me: t.me,
		Patience: stallAfter(len(t.ranks)), Blame: t.members.Blame, Wanted: t.engine.Wanted(),
		Timeline: t.proc.Steps(t.queue, seg),
	}
	t.mail = agreement.NewMailbox(lay, seg, t.ranks, t.me, &t.member)
	return nil
}

// Members whose calls do not match may claim unlike memory, and what one member claims
// may be more than its arena has, so that it alone would wait in a collective growth.
// So a plan that the arena has no room for is agreed on before it is claimed, by the
// agreement that its first run would have begun with: a run without lanes, as a call of
// its own. A member with room for another plan meets it in the agreement of that one.

// reserve claims the memory of a plan. It is collective if the arena has no room, and
// then all members mean the same. When ctx ends first, the same call made again goes on.
func (t *Team) reserve(ctx context.Context, p *Plan) error {
	if !p.bid.Available() && !p.agreed {
		if err := t.settle(ctx, p); err != nil {
			return err
		}
	}
	var err error
	p.claim, err = t.claim(ctx, &p.bid)
	if !nap.Ended(err) {
		t.early.plan, t.recycling = nil, untouched
	}
	return err
}

// settle makes the members agree on a plan, behind all operations under way.
func (t *Team) settle(ctx context.Context, p *Plan) error {
	r := &p.run
	if t.early.plan == nil {
		if err := t.drain(ctx); err != nil {
			return err
		}
		r.prepare(p)
		r.call = t.ops.next(p.sign, false)
		t.early.plan = p
		t.ops.activate(r)
	}
	if err := t.finish(ctx, r); err != nil {
		return r.failed(err)
	}
	return nil
}

// claim claims the memory of a plan. It is collective when there is none left, and then
// blocks until all members need it. When ctx ends first, the same call again goes on.
func (t *Team) claim(ctx context.Context, b *memory.Bid) (memory.Claim, error) {
	if err := t.arena.Check(b); err != nil {
		return memory.Claim{}, err
	}
	if t.recycling != untouched || t.arena.Full(b) {
		if err := t.recycle(ctx); err != nil {
			return memory.Claim{}, err
		}
		if err := t.arena.Room(b); err != nil {
			return memory.Claim{}, err
		}
	}
	if size := t.arena.Grow(b); size > 0 {
		seg, err := t.newSegment(ctx, size, false)
		if err != nil {
			return memory.Claim{}, err
		}
		t.arena.Add(seg)
	}
	return t.arena.Claim(b), nil
}

// A recycling is how far the team has come in giving up the memory of single calls.
type recycling int

const (
	untouched recycling = iota
	arrived             // all posts of all members have
	swept               // this member has given it up
	recycled            // all have
)

// recycle gives up the plans of single calls. All members have finished all calls.
func (t *Team) recycle(ctx context.Context) error {
	if t.recycling == untouched {
		if err := t.arrive(ctx); err != nil {
			return err
		}
		if err := t.meetToRecycle(ctx); err != nil {
			return err
		}
		t.recycling = arrived
	}
	if t.recycling == arrived {
		t.plans.forgetSingle()
		t.arena.Sweep(t.plans.claims())
		t.recycling = swept
	}
	if t.recycling == swept {
		if err := t.meetToRecycle(ctx); err != nil {
			return err
		}
		t.recycling = recycled
	}
	return nil
}

// meetToRecycle blocks until all members have come as far.
func (t *Team) meetToRecycle(ctx context.Context) error {
	return t.meet(ctx, meeting.Flush, "an operation that needs memory", nil)
}

// arrive waits until no post of this member can arrive at others any more.
func (t *Team) arrive(ctx context.Context) error {
	for _, r := range t.ranks {
		if err := t.queue.Flush(ctx, r); err != nil {
			return err
		}
	}
	return t.queue.Wait(ctx)
}

// unpost takes all posts of operations that were given up off the array. None can arrive
// any more.
func (t *Team) unpost() {
	t.recycling = untouched
	for id := range t.control.Notifications() {
		_, _ = t.control.Reset(gaspi.NotificationID(id)) // in range
	}
}

// making is the segments that a team makes. They differ by one at most between members:
// none ends before all have begun it.
type making struct {
	count int    // that were begun
	last  uint64 // bytes of the last one, shifted by 1, and whether it is of Alloc
	early bool   // it ended early
	kept  bool   // it is of an Alloc that has ended well
}

// newSegment makes a segment over the team for Alloc or for operations, as a call of its own. When
// ctx ends first, the same call again goes on.
func (t *Team) newSegment(ctx context.Context, size uint64, alloc bool) (*gaspi.Segment, error) {
	m := &t.resetting.segments
	if !m.early {
		m.count++
		m.last, m.kept = size<<1, false
		text := fmt.Sprintf("memory of %d bytes for operations", size)
		if alloc {
			m.last |= 1
			text = holding{call: meeting.Alloc, size: size}.String()
		}
		t.ops.meetNext(t.me, text)
	}
	var opts []gaspi.SegmentOption
	if !alloc { // the program may look at a vector of Alloc after the team is gone
		opts = append(opts, gaspi.Sparse())
	}
	var seg *gaspi.Segment
	err := t.patience(t.stalled).Do(ctx, func(ctx context.Context) (err error) {
		seg, err = t.createSegment(ctx, size, 1, opts...)
		m.early = nap.Ended(err)
		return err
	})
	switch {
	case !m.early:
		t.ops.endMeeting()
		return seg, err
	case nap.Ended(err):
		return nil, err
	default:
		return nil, t.fail(err)
	}
}

// createSegment makes a segment over the team under an id that is free everywhere. When ctx
// ends first, the same call again goes on.
func (t *Team) createSegment(ctx context.Context, size uint64, notifications uint32, opts ...gaspi.SegmentOption) (*gaspi.Segment, error) {
	opts = append(opts, gaspi.Over(t.own), gaspi.WithNotifications(notifications))
	return t.proc.CreateSegment(ctx, gaspi.AnySegment, size, opts...)
}

// A holding is an Alloc or a Release. The team keeps one that ended early, and makes no
// other call until the same call has ended it.
type holding struct {
	call  meeting.Word // meeting.Alloc or meeting.Release; 0 for none
	size  uint64       // bytes that are to be allocated
	alloc int          // that is released
	met   bool         // all members have called it
}

// String is the call as messages show it.
func (h holding) String() string {
	if h.call == meeting.Alloc {
		return fmt.Sprintf("alloc of %d bytes", h.size)
	}
	return fmt.Sprintf("release of allocation %d", h.alloc)
}

// hold meets all members in an Alloc or a Release, and returns why it cannot be done:
// wrong, or something at another member.
func (t *Team) hold(ctx context.Context, h holding, wrong error) error {
	before := t.early.held
	h.met = before.met
	switch {
	case before == h && h.met:
		return nil
	case before == h:
	case before.call != 0:
		return unfinished(before)
	default:
		if err := t.between(ctx); err != nil {
			return err
		}
	}
	t.early.held = h
	err := t.meet(ctx, h.call, h.String(), wrong)
	t.early.held.met = err == nil
	if err != nil && !nap.Ended(err) {
		t.early.held = holding{}
	}
	return err
}

// Alloc makes a vector of n elements, zeroed, that all members of the team can
// reach: operations use it, and any part of it, in place. T has no pointers. It is
// collective, blocks, and takes a segment; n is the same on all members and at
// least 1. Release gives it back. When ctx ends first, the same call made again goes on,
// and others are refused until then.
func Alloc[T any](ctx context.Context, t *Team, n int) ([]T, error) {
	mem, err := t.alloc(ctx, element.Movable[T](), n)
	if err != nil {
		return nil, err
	}
	return reduce.Of[T](mem), nil
}

func (t *Team) alloc(ctx context.Context, elem element.Type, n int) ([]byte, error) {
	if !t.engine.Enter() {
		return nil, refused("alloc")
	}
	defer t.engine.Leave()
	h := holding{call: meeting.Alloc, size: uint64(max(n, 0)) * uint64(elem.Size)}
	if err := t.hold(ctx, h, allocatable(elem, n)); err != nil {
		return nil, teamError("alloc", t.lost(err))
	}
	seg, err := t.newSegment(ctx, h.size, true)
	if !nap.Ended(err) {
		t.early.held = holding{}
	}
	if err != nil {
		return nil, teamError("alloc", t.lost(err))
	}
	t.heap.Add(seg, true)
	t.resetting.segments.kept = true
	return seg.Bytes(), nil
}

// allocatable returns why n elements of a type cannot be allocated, or nil.
func allocatable(elem element.Type, n int) error {
	if n < 1 {
		return fmt.Errorf("%w: %d elements; want at least 1", gaspi.ErrOutOfRange, n)
	}
	if err := elem.Check(); err != nil {
		return err
	}
	if n > elem.Most() {
		return fmt.Errorf("%w: %d elements of type %v; want at most %d", gaspi.ErrOutOfRange, n, elem.Type, elem.Most())
	}
	return nil
}

// Use makes operations use buffers in seg in place. seg was created over the
// group of the team, or all ranks, and every member calls Use for its segment of
// the same id, in the same order.
func (t *Team) Use(seg *gaspi.Segment) error {
	if !t.engine.Enter() {
		return refused("use")
	}
	defer t.engine.Leave()
	if t.closed {
		return teamError("use", gaspi.ErrClosed)
	}
	if seg == nil {
		return teamError("use", fmt.Errorf("%w: the segment is nil; want one that all members have", gaspi.ErrNoSegment))
	}
	t.heap.Add(seg, false)
	return nil
}

// Release gives back what Alloc made; buf is all of it. It is collective and
// blocks until all members have called it. When ctx ends first, the same call made again
// goes on. Plans bound to it must not be used any
// more, nor may buf.
func Release[T any](ctx context.Context, t *Team, buf []T) error {
	return t.release(ctx, reduce.BytesOf(buf))
}

func (t *Team) release(ctx context.Context, mem []byte) error {
	if !t.engine.Enter() {
		return refused("release")
	}
	defer t.engine.Leave()
	if t.closed {
		return teamError("release", gaspi.ErrClosed)
	}
	at := t.heap.Locate(mem)
	if !t.heap.Owns(at) || uint64(len(mem)) != t.heap.Segment(at).Size() {
		return teamError("release", fmt.Errorf("%w: the slice is not what Alloc of this team returned", gaspi.ErrNoSegment))
	}
	if err := t.hold(ctx, holding{call: meeting.Release, alloc: at.Number}, nil); err != nil {
		return teamError("release", t.lost(err))
	}
	t.early.held = holding{}
	return t.drop(at.Number)
}

// drop deletes an allocation, and the plans that use it.
func (t *Team) drop(alloc int) error {
	for k, p := range t.plans.byKey {
		if k.in.Number == alloc || k.out.Number == alloc {
			t.plans.forget(p)
		}
	}
	return t.heap.Delete(alloc)
}
