package gaspi

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/turns"
)

// AnySegment is the id to give to CreateSegment or UseSegment for the highest one
// that is free on all members, on which they agree. Segment.ID tells it. Programs
// count theirs from 0, so libraries use it.
const AnySegment SegmentID = math.MaxUint32

// CreateSegment makes segment id of size bytes, zeroed, and registers it with
// every rank, or with those of the group named by Over. It is collective over
// them and blocks; when it returns, every member can use every member's segment.
// Sizes may differ.
//
// Several goroutines of a rank may create segments at a time, over one group or
// several. Over one group, calls match by id, in any order at each member, and go
// one after the other; those of AnySegment match by their tag, and those with one
// tag by their order. When ctx ends first, the same call again goes on; until it has
// been finished, other creations over the same group wait.
//
// With AnySegment, memory that a member does not get, and an id that there is not, are
// errors on all members. Otherwise a member whose own arguments are at fault returns, and
// the others wait for it.
func (p *Proc) CreateSegment(ctx context.Context, id SegmentID, size uint64, opts ...SegmentOption) (*Segment, error) {
	return p.share(ctx, "segment_create", id, memory{size: size}, opts)
}

// UseSegment is CreateSegment with memory that the caller owns and keeps, at
// least until the segment is deleted; then no peer touches it any more. Ranks of
// other processes of this host reach it through this process: their operations
// return when it has carried them out, which takes microseconds while it gets a
// core, and Segment.Mapped is false there.
func (p *Proc) UseSegment(ctx context.Context, id SegmentID, mem []byte, opts ...SegmentOption) (*Segment, error) {
	return p.share(ctx, "segment_use", id, bound(mem), opts)
}

// A creation is a call of CreateSegment or UseSegment.
type creation struct {
	p    *Proc
	op   string
	id   SegmentID
	m    memory
	o    segmentOptions
	what creationKey
}

// share makes a segment over a group.
func (p *Proc) share(ctx context.Context, op string, id SegmentID, m memory, opts []SegmentOption) (*Segment, error) {
	o, err := p.options(opts)
	if err != nil {
		return nil, segmentError(op, id, err)
	}
	if err := o.group.ready(op); err != nil {
		return nil, err
	}
	defer p.recordNamed("Proc.CreateSegment", p.timeline.Begin())
	c := &creation{p: p, op: op, id: id, m: m, o: o, what: creationKey{o.group, m.size, m.first()}}
	s, err := c.run(ctx)
	if err != nil {
		return nil, segmentError(op, id, err)
	}
	return s, nil
}

func (c *creation) run(ctx context.Context) (*Segment, error) {
	if c.id != AnySegment {
		return c.named(ctx)
	}
	t := c.o.group.turns
	if err := t.enter(ctx, turnAny|turns.CallKey(c.o.tag), c.String()); err != nil {
		return nil, err
	}
	s, ended, err := c.drawn(ctx)
	t.leave(ended)
	return s, err
}

// String is the call as messages show it.
func (c *creation) String() string {
	if c.id == AnySegment {
		return fmt.Sprintf("%s of AnySegment of %d bytes with tag %d", c.op, c.what.size, c.o.tag)
	}
	return fmt.Sprintf("%s of segment %d", c.op, c.id)
}

// make makes the segment under an id and registers it with the group.
func (c *creation) make(id SegmentID) (*Segment, error) {
	s, err := c.p.makeSegment(id, c.id == AnySegment, c.m, c.o)
	if err != nil {
		return nil, err
	}
	s.group = c.o.group
	for _, r := range c.o.group.ranks {
		if err := s.Register(r); err != nil {
			_ = s.Delete() // just made
			return nil, err
		}
	}
	return s, nil
}

// named makes the segment first and then meets the others in a barrier. A call that
// ended early left it behind as unfinished business, which the next one finds and
// goes on with.
func (c *creation) named(ctx context.Context) (*Segment, error) {
	p, g := c.p, c.o.group
	s, err := p.creations.resume(c.id, c.what)
	if err != nil {
		return nil, err
	}
	if s == nil {
		if s, err = c.make(c.id); err != nil {
			return nil, err
		}
		p.creations.begin(c.id, c.what, s)
	}
	if err = g.turns.enter(ctx, turnSegment|turns.CallKey(c.id), c.String()); err == nil {
		_, err = g.internal.run(ctx, c.op)
		g.turns.leave(err == nil)
	}
	p.creations.end(c.id, err == nil)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// creations are the collective creations of a rank that have not ended.
type creations struct {
	mu   sync.Mutex
	half map[SegmentID]*halfDone // guarded by mu
}

// halfDone is a collective creation that has not ended.
type halfDone struct {
	creationKey
	seg  *Segment
	held bool // a goroutine is in it; else it ended early
}

// A creationKey says which call a collective creation was.
type creationKey struct {
	group *Group
	size  uint64
	mem   *byte // the first of the caller's memory, if it is bound
}

// begin notes that the caller is in a creation.
func (c *creations) begin(id SegmentID, what creationKey, s *Segment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.half == nil {
		c.half = make(map[SegmentID]*halfDone)
	}
	c.half[id] = &halfDone{creationKey: what, seg: s, held: true}
}

// end notes that the caller has left it, for good if it is done.
func (c *creations) end(id SegmentID, done bool) {
	if done {
		c.forget(id)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if half := c.half[id]; half != nil {
		half.held = false
	}
}

// forget is for a creation that nobody goes on with.
func (c *creations) forget(id SegmentID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.half, id)
}

// resume is the segment of a creation with the same arguments that ended early, or
// nil. The caller is in it from now on.
func (c *creations) resume(id SegmentID, what creationKey) (*Segment, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	half := c.half[id]
	switch {
	case half == nil || half.creationKey != what:
		return nil, nil
	case half.held:
		return nil, fmt.Errorf("%w: the same call is under way in another goroutine", ErrInUse)
	}
	half.held = true
	return half.seg, nil
}

// anyWork is how far a creation of AnySegment has come.
type anyWork struct {
	*draw
	what  creationKey
	tried bool
	seg   *Segment
	wrong error // why there is none
}

// drawn draws an id, makes the segment, and finds out whether all could. It is the
// caller's turn; ended is false if that is to be finished later.
func (c *creation) drawn(ctx context.Context) (s *Segment, ended bool, err error) {
	g, count := c.o.group, c.p.cfg.Segments
	w, there := g.turns.Work.(*anyWork)
	if !there {
		noun := fmt.Sprintf("segment id of the %d of Config.Segments", count)
		w = &anyWork{draw: c.p.newDraw(c.p.segments, count, noun), what: c.what}
		g.turns.Work = w
	}
	if w.what != c.what {
		return nil, false, fmt.Errorf("%w: a creation of AnySegment of %d bytes with tag %d ended early on this group and is to be finished first, by the same call again",
			ErrInUse, w.what.size, c.o.tag)
	}
	if ended, err := w.run(ctx, g); err != nil {
		return nil, ended, err
	}
	if !w.tried {
		w.tried = true
		w.seg, w.wrong = c.make(SegmentID(w.Number()))
	}
	if ended, err = w.verdict(ctx, g, w.wrong); err != nil {
		if ended {
			w.giveUp()
		}
		return nil, ended, err
	}
	w.GiveUp() // the id is the segment's
	return w.seg, true, nil
}

// giveUp gives back the id and the segment.
func (w *anyWork) giveUp() {
	if w.seg != nil {
		_ = w.seg.Delete() // it can only be deleted already
	}
	w.GiveUp()
}
