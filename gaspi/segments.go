package gaspi

import (
	"fmt"
	"sync"

	"github.com/gaspi-go/gaspi-go/segment"
)

// segmentTable holds this rank's segments.
type segmentTable struct {
	mu    sync.Mutex
	byID  []*Segment              // guarded by mu; nil where there is none
	drawn map[SegmentID]bool      // guarded by mu; ids that a draw has reserved
	half  map[SegmentID]*halfDone // guarded by mu; collective creations that have not ended
}

// halfDone is a collective creation that has not ended.
type halfDone struct {
	creationKey
	held bool // a goroutine is in it; else it ended early
}

// A creationKey says which call a collective creation was.
type creationKey struct {
	group *Group
	size  uint64
	mem   *byte // the caller's memory, if it is bound
}

// add makes a segment under a free id, or under one that the caller has drawn, and
// exposes it.
func (t *segmentTable) add(p *Proc, id SegmentID, drawn bool, alloc func() (*segment.Segment, error)) (*Segment, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case p.closed.Load():
		return nil, ErrClosed
	case uint64(id) >= uint64(len(t.byID)):
		return nil, p.badSegment()
	case t.byID[id] != nil:
		return nil, fmt.Errorf("%w: delete the segment of that id first", ErrInUse)
	case t.drawn[id] && !drawn:
		return nil, fmt.Errorf("%w: a creation of AnySegment in another goroutine takes that id", ErrInUse)
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

// remove withdraws s from peers, which may have to be waited for, and takes it out. Until
// then its id is not free.
func (t *segmentTable) remove(s *Segment) error {
	if err := t.beginRemoval(s); err != nil {
		return err
	}
	err := s.p.wire.Withdraw(s.id)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byID[s.id] = nil
	delete(t.half, s.id)
	return err
}

func (t *segmentTable) beginRemoval(s *Segment) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID[s.id] != s || s.leaving {
		return ErrClosed
	}
	s.leaving = true
	return nil
}

// removeAll deletes all segments at a time, so that peers that do not answer are waited for once.
func (t *segmentTable) removeAll() {
	var deletes sync.WaitGroup
	for _, s := range t.all() {
		deletes.Go(func() { _ = s.Delete() }) // it can only be deleted already
	}
	deletes.Wait()
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

// freeLocked reports whether there is an id that nobody has or has reserved. The
// caller holds mu.
func (t *segmentTable) freeLocked(id SegmentID) bool {
	return uint64(id) < uint64(len(t.byID)) && t.byID[id] == nil && !t.drawn[id]
}

// reserve implements pool.
func (t *segmentTable) reserve(limit int, hop func() int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := limit; id >= 0; {
		switch {
		case t.byID[id] != nil:
			id--
		case t.drawn[SegmentID(id)]:
			id -= hop()
		default:
			if t.drawn == nil {
				t.drawn = make(map[SegmentID]bool)
			}
			t.drawn[SegmentID(id)] = true
			return id
		}
	}
	return -1
}

// release implements pool. A segment that was made under the id stays.
func (t *segmentTable) release(id int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.drawn, SegmentID(id))
}

// begin notes that the caller is in a creation.
func (t *segmentTable) begin(id SegmentID, what creationKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.half == nil {
		t.half = make(map[SegmentID]*halfDone)
	}
	t.half[id] = &halfDone{creationKey: what, held: true}
}

// end notes that the caller has left it, for good if it is done.
func (t *segmentTable) end(id SegmentID, done bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if done {
		delete(t.half, id)
	} else if half := t.half[id]; half != nil {
		half.held = false
	}
}

// resume is the segment of a creation with the same arguments that ended early, or
// nil. The caller is in it from now on.
func (t *segmentTable) resume(id SegmentID, what creationKey) (*Segment, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	half := t.half[id]
	switch {
	case half == nil || half.creationKey != what:
		return nil, nil
	case half.held:
		return nil, fmt.Errorf("%w: the same call is under way in another goroutine", ErrInUse)
	}
	half.held = true
	return t.byID[id], nil
}
