package gaspi

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/numbers"
	"github.com/gaspi-go/gaspi-go/internal/trace"
	"github.com/gaspi-go/gaspi-go/segment"
)

// SegmentID names a segment of a rank, from 0 to Config.Segments-1.
type SegmentID = segment.ID

// Span is a range of a local segment whose bounds have been checked.
type Span = segment.Span

// Element is what typed views and small reductions may consist of.
type Element = segment.Element

// A Remote is an address at a rank: a segment of that rank and an offset in it,
// in bytes. Segment.At makes it; so may the program.
type Remote struct {
	Rank    Rank
	Segment SegmentID
	Offset  uint64
}

// String is the address as messages show it.
func (r Remote) String() string {
	return fmt.Sprintf("rank %d segment %d [%d]", r.Rank, r.Segment, r.Offset)
}

// Plus is the address n bytes further.
func (r Remote) Plus(n uint64) Remote {
	r.Offset += n
	return r
}

// A Segment is memory of this rank that the ranks it is registered with may
// write and read: bytes and an array of notifications. Other ranks may have
// segments of other sizes under the same id.
type Segment struct {
	p   *Proc
	id  SegmentID
	mem *segment.Segment

	group *Group // that it was created over; nil if one rank made it alone

	leaving atomic.Bool // Delete is under way, or was called

	mu      sync.Mutex
	writers []Rank // guarded by mu; the other ranks it is registered with

	told atomic.Int32 // waits inside of those that a library tells of; see Proc.TellWait

	spent atomic.Pointer[atomic.Int64] // where the time of waits for notifications goes: to that of a sole writer

	stop func() error // bound once, so that waits allocate nothing

	timeline *trace.Recorder // of waits; nil if they are not recorded
}

// A SegmentOption changes how a segment is created.
type SegmentOption func(*segmentOptions)

type segmentOptions struct {
	group         *Group
	notifications uint32
	tag           Tag
	sparse        bool
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

// WithTag tells a creation of AnySegment from others over the same group that
// other goroutines make at the same time.
func WithTag(tag Tag) SegmentOption { return func(o *segmentOptions) { o.tag = tag } }

// Sparse says that most of the segment will never be written. Its pages take memory when they are first written, and
// Delete gives them back at once. Segments of ranks that are processes are always so; those of Local are so with it,
// from 8 MiB on. Without it they are on the heap, which is zeroed when it is used again, and lie there until no rank has
// an address of them.
func Sparse() SegmentOption { return func(o *segmentOptions) { o.sparse = true } }

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
	return o, o.tag.check()
}

// AllocSegment makes segment id of size bytes, zeroed, for this rank alone; see
// Segment.Register. It is local.
func (p *Proc) AllocSegment(id SegmentID, size uint64, opts ...SegmentOption) (*Segment, error) {
	return p.addSegment("segment_alloc", id, memory{size: size}, opts)
}

// BindSegment is AllocSegment with memory that the caller owns; see UseSegment.
func (p *Proc) BindSegment(id SegmentID, mem []byte, opts ...SegmentOption) (*Segment, error) {
	return p.addSegment("segment_bind", id, bound(mem), opts)
}

// memory says what a segment is made of.
type memory struct {
	size  uint64
	bytes []byte // the caller's memory, if it is bound
	bound bool
}

func bound(mem []byte) memory { return memory{size: uint64(len(mem)), bytes: mem, bound: true} }

// first is the first byte of bound memory, nil if there is none.
func (m memory) first() *byte {
	if len(m.bytes) == 0 {
		return nil
	}
	return &m.bytes[0]
}

func (p *Proc) addSegment(op string, id SegmentID, m memory, opts []SegmentOption) (*Segment, error) {
	o, err := p.options(opts)
	if err != nil {
		return nil, segmentError(op, id, err)
	}
	s, err := p.makeSegment(id, false, m, o)
	if err != nil {
		return nil, segmentError(op, id, err)
	}
	return s, nil
}

// makeSegment makes a segment under an id that is free or that the caller has drawn, and exposes it.
func (p *Proc) makeSegment(id SegmentID, drawn bool, m memory, o segmentOptions) (*Segment, error) {
	s, err := p.segments.Put(int(id), drawn, func() (*Segment, error) {
		if p.closed.Load() {
			return nil, ErrClosed
		}
		mem, err := p.allocate(m, o)
		if err != nil {
			return nil, err
		}
		if err := p.wire.Expose(id, mem); err != nil {
			_ = mem.Close()
			return nil, err
		}
		s := &Segment{p: p, id: id, mem: mem, timeline: p.timeline}
		s.spent.Store(&p.stats.notifyWait)
		s.stop = s.orphaned
		return s, nil
	})
	switch {
	case errors.Is(err, numbers.ErrRange):
		err = p.badSegment()
	case errors.Is(err, numbers.ErrTaken):
		err = fmt.Errorf("%w: delete the segment of that id first", ErrInUse)
	case errors.Is(err, numbers.ErrReserved):
		err = fmt.Errorf("%w: a creation of AnySegment in another goroutine takes that id", ErrInUse)
	}
	return s, err
}

func (p *Proc) allocate(m memory, o segmentOptions) (*segment.Segment, error) {
	switch {
	case m.bound:
		return p.wire.BindMemory(m.bytes, o.notifications)
	case o.sparse:
		return p.wire.NewSparse(m.size, o.notifications)
	default:
		return p.wire.NewMemory(m.size, o.notifications)
	}
}

func segmentError(op string, id SegmentID, err error) error {
	at := fmt.Sprintf("segment %d", id)
	if id == AnySegment {
		at = "of any free id"
	}
	if inner, ok := errors.AsType[*OpError](err); ok {
		// The group that a collective creation waited for says the same thing.
		return &OpError{Op: op, At: at, Err: inner.Err, Wait: inner.Wait}
	}
	return &OpError{Op: op, At: at, Err: err}
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
		s.spent.Store(&s.p.stats.notifyWait)
		if len(s.writers) == 1 {
			s.spent.Store(&s.p.stats.peers.at(r).notifyWait)
		}
	}
	return nil
}

// Delete ends the segment here; its id is free again. It waits for no call of another rank: make
// sure, by a barrier for instance, that no peer still uses it. A later write of a straggler goes into
// the dead memory or ends with ErrNoSegment there, and never lands in another segment of the
// same id. Spans and views of it must not be used any more; memory that was bound is the
// caller's again. Where peers have used it over a network, Delete blocks until their transports
// know that it is gone, for 2 s at most: then whoever hears of a new segment of this id, from
// whichever rank, reaches that one.
func (s *Segment) Delete() error {
	if !s.leaving.CompareAndSwap(false, true) {
		return segmentError("segment_delete", s.id, ErrClosed)
	}
	err := s.p.wire.Withdraw(s.id)
	s.p.creations.forget(s.id)
	s.p.segments.Remove(int(s.id))
	if err == nil {
		err = s.mem.Close()
	}
	if err != nil {
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
	if s := p.segments.Get(int(id)); s != nil {
		return s, nil
	}
	return nil, segmentError("segment", id, ErrNoSegment)
}

// Segments are the ids of this rank's segments, ascending.
func (p *Proc) Segments() []SegmentID {
	var ids []SegmentID
	for _, s := range p.segments.All() {
		ids = append(ids, s.id)
	}
	return ids
}

// FreeSegmentID is the lowest id from first on that no segment of this rank has.
// Another rank may have one, and another goroutine may take it: see AnySegment.
func (p *Proc) FreeSegmentID(first SegmentID) (SegmentID, error) {
	if id := p.segments.Free(int(first)); id >= 0 {
		return SegmentID(id), nil
	}
	return 0, segmentError("segment_avail", first, fmt.Errorf("%w: Config.Segments is %d", ErrTooMany, p.cfg.Segments))
}

// RemoteSize is the number of bytes and of notifications of segment id at rank
// r, which must have registered it with this one.
func (p *Proc) RemoteSize(r Rank, id SegmentID) (bytes uint64, notifications uint32, err error) {
	way, err := p.reach(Remote{Rank: r, Segment: id})
	if err == nil {
		bytes, notifications, err = way.Size(id)
	}
	if err != nil {
		return 0, 0, &OpError{Op: "segment_size", At: fmt.Sprintf("rank %d segment %d", r, id), Err: p.peers.Found(r, err)}
	}
	return bytes, notifications, nil
}

// ID is the segment's number.
func (s *Segment) ID() SegmentID { return s.id }

// Size is its number of bytes.
func (s *Segment) Size() uint64 { return s.mem.Size() }

// Notifications is its number of notifications.
func (s *Segment) Notifications() uint32 { return s.mem.Notifications().Len() }

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

// Bytes is all the memory of the segment, aliased. It must not be used after Delete:
// then it is dead memory, which nobody else sees, as long as s is kept.
func (s *Segment) Bytes() []byte { return s.mem.All().Bytes() }

// At is the address offset bytes into rank r's segment of the same id. The
// operation that uses it checks it.
func (s *Segment) At(r Rank, offset uint64) Remote {
	return Remote{Rank: r, Segment: s.id, Offset: offset}
}

// Mapped is rank r's segment of the same id, [offset, offset+size), where this
// rank can read and write it directly: on the same host, unless its owner bound
// its own memory. False where it cannot. Ordering is the program's business:
// only notifications and atomics give any. Operations of queues on such memory are complete
// when the call returns: a write has arrived and its source may be reused. False once this rank
// has deleted s.
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
