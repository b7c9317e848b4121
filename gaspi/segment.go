package gaspi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gaspi-go/gaspi-go/segment"
)

// A Segment is memory of this rank that the ranks it is registered with may
// write and read: bytes and a board of notifications. Other ranks may have
// segments of other sizes under the same id.
type Segment struct {
	p   *Proc
	id  SegmentID
	mem *segment.Segment

	mu      sync.Mutex
	writers []Rank // guarded by mu; the other ranks it is registered with

	stop func() error // bound once, so that waits allocate nothing
}

// A SegmentOption changes how a segment is created.
type SegmentOption func(*segmentOptions)

type segmentOptions struct {
	group         *Group
	notifications uint32
}

// Over makes a collective creation one of the members of g instead of all ranks.
func Over(g *Group) SegmentOption { return func(o *segmentOptions) { o.group = g } }

// maxNotifications is how many notifications a segment has at most, 1 GiB of them.
const maxNotifications = 1 << 28

// WithNotifications gives the segment n notifications, 1 to 2^28, instead of
// Config.Notifications.
func WithNotifications(n uint32) SegmentOption {
	return func(o *segmentOptions) { o.notifications = n }
}

func (p *Proc) options(opts []SegmentOption) (segmentOptions, error) {
	o := segmentOptions{group: p.world, notifications: p.cfg.Notifications}
	for _, set := range opts {
		set(&o)
	}
	switch {
	case o.notifications == 0:
		return o, fmt.Errorf("0 notifications were asked for; a segment has 1 to %d", maxNotifications)
	case o.notifications > maxNotifications:
		return o, fmt.Errorf("%w: %d notifications were asked for; a segment has 1 to %d", ErrTooLarge, o.notifications, maxNotifications)
	}
	return o, nil
}

// CreateSegment makes segment id of size bytes, zeroed, and registers it with
// every rank, or with those of the group named by Over. It is collective over
// them and blocks; when it returns, every member can use every member's segment.
// Sizes may differ. When ctx ends first, the same call again goes on; until it
// has been finished, no other segment can be created over the same group.
func (p *Proc) CreateSegment(ctx context.Context, id SegmentID, size uint64, opts ...SegmentOption) (*Segment, error) {
	alloc := func(o segmentOptions) (*segment.Segment, error) { return p.newMemory(size, o.notifications) }
	return p.share(ctx, "segment_create", id, size, nil, opts, alloc)
}

// UseSegment is CreateSegment with memory that the caller owns and keeps, at
// least until the segment is deleted; then no peer touches it any more. Ranks of
// other processes of this host reach it through this process: their operations
// return when it has carried them out, which takes microseconds while it gets a
// core, and Segment.Mapped is false there.
func (p *Proc) UseSegment(ctx context.Context, id SegmentID, mem []byte, opts ...SegmentOption) (*Segment, error) {
	bind := func(o segmentOptions) (*segment.Segment, error) { return p.bindMemory(mem, o.notifications) }
	return p.share(ctx, "segment_use", id, uint64(len(mem)), mem, opts, bind)
}

// AllocSegment makes segment id of size bytes, zeroed, for this rank alone; see
// Segment.Register. It is local.
func (p *Proc) AllocSegment(id SegmentID, size uint64, opts ...SegmentOption) (*Segment, error) {
	alloc := func(o segmentOptions) (*segment.Segment, error) { return p.newMemory(size, o.notifications) }
	return p.addSegment("segment_alloc", id, opts, alloc)
}

// BindSegment is AllocSegment with memory that the caller owns; see UseSegment.
func (p *Proc) BindSegment(id SegmentID, mem []byte, opts ...SegmentOption) (*Segment, error) {
	bind := func(o segmentOptions) (*segment.Segment, error) { return p.bindMemory(mem, o.notifications) }
	return p.addSegment("segment_bind", id, opts, bind)
}

type makeMemory func(segmentOptions) (*segment.Segment, error)

func (p *Proc) addSegment(op string, id SegmentID, opts []SegmentOption, alloc makeMemory) (*Segment, error) {
	o, err := p.options(opts)
	if err != nil {
		return nil, segmentError(op, id, err)
	}
	s, err := p.segments.add(p, id, func() (*segment.Segment, error) { return alloc(o) })
	if err != nil {
		return nil, segmentError(op, id, err)
	}
	return s, nil
}

// share is addSegment, registration with a group, and a barrier of the group. A
// call that ended early left the segment behind as unfinished business, which
// the next one finds and goes on with.
func (p *Proc) share(ctx context.Context, op string, id SegmentID, size uint64, mem []byte, opts []SegmentOption, alloc makeMemory) (*Segment, error) {
	o, err := p.options(opts)
	if err != nil {
		return nil, segmentError(op, id, err)
	}
	if err := o.group.ready(op); err != nil {
		return nil, err
	}
	what := halfDone{group: o.group, size: size}
	if len(mem) > 0 {
		what.mem = &mem[0]
	}
	s := p.segments.unfinished(id, what)
	if s == nil {
		if s, err = p.addSegment(op, id, opts, alloc); err != nil {
			return nil, err
		}
		for _, r := range o.group.ranks {
			if err := s.Register(r); err != nil {
				return nil, segmentError(op, id, err)
			}
		}
		p.segments.begin(id, what)
	}
	if err := o.group.internal.run(ctx, op, fmt.Sprintf("%s of segment %d", op, id)); err != nil {
		return nil, segmentError(op, id, err)
	}
	p.segments.finish(id)
	return s, nil
}

func segmentError(op string, id SegmentID, err error) error {
	at := fmt.Sprintf("segment %d", id)
	if inner, ok := errors.AsType[*OpError](err); ok {
		// The group that a collective creation waited for says the same thing.
		return &OpError{Op: op, At: at, Err: inner.Err, Wait: inner.Wait}
	}
	return &OpError{Op: op, At: fmt.Sprintf("segment %d", id), Err: err}
}

// Register lets rank r use the segment. That it returned says nothing to r: tell
// it by a notification or a barrier. It is local here and does not block.
func (s *Segment) Register(r Rank) error {
	if r < 0 || int(r) >= s.p.size {
		return segmentError("segment_register", s.id, s.p.badRank(r))
	}
	if s.mem.Closed() {
		return segmentError("segment_register", s.id, ErrClosed)
	}
	if err := s.p.wire.Grant(s.id, r); err != nil {
		return segmentError("segment_register", s.id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r != s.p.rank && !slices.Contains(s.writers, r) {
		s.writers = append(s.writers, r)
	}
	return nil
}

// Delete ends the segment here; its id is free again. It is local: make sure,
// by a barrier for instance, that no peer still uses it. What a straggler writes
// to it later goes into the dead memory or ends with ErrNoSegment there, and
// never lands in another segment of the same id. Spans and views of it must not
// be used any more; memory that was bound is the caller's again.
func (s *Segment) Delete() error {
	if err := s.p.segments.remove(s); err != nil {
		return segmentError("segment_delete", s.id, err)
	}
	if err := s.mem.Close(); err != nil {
		return segmentError("segment_delete", s.id, err)
	}
	return nil
}

// DeleteSegment is Delete of the segment with this id.
func (p *Proc) DeleteSegment(id SegmentID) error {
	s, err := p.Segment(id)
	if err != nil {
		return err
	}
	return s.Delete()
}

// Segment is this rank's segment id.
func (p *Proc) Segment(id SegmentID) (*Segment, error) {
	if s := p.segments.get(id); s != nil {
		return s, nil
	}
	return nil, segmentError("segment", id, ErrNoSegment)
}

// Segments are the ids of this rank's segments, ascending.
func (p *Proc) Segments() []SegmentID {
	var ids []SegmentID
	for _, s := range p.segments.all() {
		ids = append(ids, s.id)
	}
	return ids
}

// FreeSegmentID is the lowest id from first on that no segment of this rank has.
// Another rank may have one: agree before a collective creation.
func (p *Proc) FreeSegmentID(first SegmentID) (SegmentID, error) {
	p.segments.mu.Lock()
	defer p.segments.mu.Unlock()
	for id := uint64(first); id < uint64(len(p.segments.byID)); id++ {
		if p.segments.byID[id] == nil {
			return SegmentID(id), nil
		}
	}
	return 0, segmentError("segment_avail", first, fmt.Errorf("%w: Config.Segments is %d", ErrTooMany, len(p.segments.byID)))
}

// RemoteSize is the number of bytes and of notifications of segment id at rank
// r, which must have registered it with this one.
func (p *Proc) RemoteSize(r Rank, id SegmentID) (bytes uint64, notifications uint32, err error) {
	way, err := p.reach(Remote{Rank: r, Segment: id})
	if err == nil {
		bytes, notifications, err = way.Size(id)
	}
	if err != nil {
		return 0, 0, &OpError{Op: "segment_size", At: fmt.Sprintf("rank %d segment %d", r, id), Err: p.faultIn(r, err)}
	}
	return bytes, notifications, nil
}

// ID is the segment's number.
func (s *Segment) ID() SegmentID { return s.id }

// Size is its number of bytes.
func (s *Segment) Size() uint64 { return s.mem.Size() }

// Notifications is its number of notifications.
func (s *Segment) Notifications() uint32 { return s.mem.Board().Len() }

// Span is the range [offset, offset+size) in bytes, for writes and reads. Its
// bounds are checked here and never again.
func (s *Segment) Span(offset, size uint64) (Span, error) {
	if s.mem.Closed() {
		return Span{}, segmentError("span", s.id, ErrClosed)
	}
	x, err := s.mem.Span(offset, size)
	if err != nil {
		return Span{}, segmentError("span", s.id, err)
	}
	return x, nil
}

// Bytes is all the memory of the segment, aliased. It must not be used after
// Delete, which makes Bytes nil.
func (s *Segment) Bytes() []byte {
	if s.mem.Closed() {
		return nil
	}
	return s.mem.All().Bytes()
}

// At is the address offset bytes into rank r's segment of the same id. The
// operation that uses it checks it.
func (s *Segment) At(r Rank, offset uint64) Remote {
	return Remote{Rank: r, Segment: s.id, Offset: offset}
}

// Mapped is rank r's segment of the same id, [offset, offset+size), where this
// rank can read and write it directly: on the same host, unless its owner bound
// its own memory. False where it cannot. Ordering is the program's business:
// only notifications and atomics give any. What queues do with such memory is done
// when the call returns: a write has arrived and its source is free. False once this
// rank has deleted s.
func (s *Segment) Mapped(r Rank, offset, size uint64) (Span, bool) {
	link, err := s.p.link(r)
	if err != nil || s.mem.Closed() {
		return Span{}, false
	}
	return link.Mapped(s.At(r, offset).addr(), size)
}

// OffsetOf is where mem, which aliases memory of the segment, begins in it, in
// bytes; false if not all of mem is the segment's, mem is empty, or the segment is
// deleted.
func (s *Segment) OffsetOf(mem []byte) (offset uint64, ok bool) {
	if s.mem.Closed() {
		return 0, false
	}
	return s.mem.OffsetOf(mem)
}

// View is the segment's memory from byte offset as count elements of type T,
// aliased. The offset must suit T's alignment.
func View[T Element](s *Segment, offset uint64, count int) ([]T, error) {
	if s.mem.Closed() {
		return nil, segmentError("view", s.id, ErrClosed)
	}
	xs, err := segment.View[T](s.mem, offset, count)
	if err != nil {
		return nil, segmentError("view", s.id, err)
	}
	return xs, nil
}

// segmentTable holds this rank's segments.
type segmentTable struct {
	mu   sync.Mutex
	byID []*Segment             // guarded by mu; nil where free
	half map[SegmentID]halfDone // guarded by mu; collective creations that have not ended
}

// halfDone says which call a collective creation was.
type halfDone struct {
	group *Group
	size  uint64
	mem   *byte // the caller's memory, if it is bound
}

// add makes a segment under a free id and exposes it.
func (t *segmentTable) add(p *Proc, id SegmentID, alloc func() (*segment.Segment, error)) (*Segment, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case p.closed.Load():
		return nil, ErrClosed
	case uint64(id) >= uint64(len(t.byID)):
		return nil, p.badSegment()
	case t.byID[id] != nil:
		return nil, fmt.Errorf("%w: delete the segment of that id first", ErrInUse)
	}
	mem, err := alloc()
	if err != nil {
		return nil, err
	}
	if err := p.wire.Expose(id, mem); err != nil {
		_ = mem.Close()
		return nil, err
	}
	s := &Segment{p: p, id: id, mem: mem}
	s.stop = s.orphaned
	t.byID[id] = s
	return s, nil
}

// remove withdraws s from peers and takes it out.
func (t *segmentTable) remove(s *Segment) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID[s.id] != s {
		return ErrClosed
	}
	t.byID[s.id] = nil
	delete(t.half, s.id)
	return s.p.wire.Withdraw(s.id)
}

func (t *segmentTable) get(id SegmentID) *Segment {
	t.mu.Lock()
	defer t.mu.Unlock()
	if uint64(id) >= uint64(len(t.byID)) {
		return nil
	}
	return t.byID[id]
}

func (t *segmentTable) all() []*Segment {
	t.mu.Lock()
	defer t.mu.Unlock()
	var segs []*Segment
	for _, s := range t.byID {
		if s != nil {
			segs = append(segs, s)
		}
	}
	return segs
}

func (t *segmentTable) begin(id SegmentID, what halfDone) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.half == nil {
		t.half = make(map[SegmentID]halfDone)
	}
	t.half[id] = what
}

func (t *segmentTable) finish(id SegmentID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.half, id)
}

// unfinished is the segment of a creation with the same arguments that ended
// early, or nil.
func (t *segmentTable) unfinished(id SegmentID, what halfDone) *Segment {
	t.mu.Lock()
	defer t.mu.Unlock()
	if half, ok := t.half[id]; !ok || half != what {
		return nil
	}
	return t.byID[id]
}
