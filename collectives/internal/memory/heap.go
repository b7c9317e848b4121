package memory

import "github.com/gaspi-go/gaspi-go/gaspi"

// A Heap holds the segments that buffers of callers lie in, in the same order at all members. One that
// is deleted leaves its place empty, so that the others keep their numbers. The zero Heap is empty.
type Heap struct{ segments []heapSegment }

// A heapSegment is empty, or a segment of a heap.
type heapSegment struct {
	*gaspi.Segment
	own bool // the heap deletes it
}

// A Location is where a buffer lies: in a segment of the heap, the same at every member, or nowhere that
// peers can reach.
type Location struct {
	Number int // of the segment, from 1; 0 for a plain slice
	Offset uint64
}

// Empty reports whether the heap never had a segment.
func (h *Heap) Empty() bool { return len(h.segments) == 0 }

// Add adds a segment. The heap owns it if own says so.
func (h *Heap) Add(seg *gaspi.Segment, own bool) {
	for i := range h.segments {
		if h.segments[i].Segment == nil {
			h.segments[i] = heapSegment{seg, own}
			return
		}
	}
	h.segments = append(h.segments, heapSegment{seg, own})
}

// Shared returns a heap of the same segments, which owns none.
func (h *Heap) Shared() Heap {
	var shared Heap
	for _, s := range h.segments {
		shared.segments = append(shared.segments, heapSegment{s.Segment, false})
	}
	return shared
}

// Locate returns where a buffer lies, or an empty part of one.
func (h *Heap) Locate(mem []byte) Location {
	if len(mem) == 0 && cap(mem) > 0 {
		mem = mem[:1]
	}
	for i, s := range h.segments {
		if s.Segment != nil {
			if off, ok := s.OffsetOf(mem); ok {
				return Location{i + 1, off}
			}
		}
	}
	return Location{}
}

// Holds reports whether x or y lies in a segment of the heap.
func (h *Heap) Holds(x, y []byte) bool {
	for i := range h.segments {
		if s := h.segments[i].Segment; s != nil && (within(s, x) || within(s, y)) {
			return true
		}
	}
	return false
}

func within(seg *gaspi.Segment, mem []byte) bool {
	_, ok := seg.OffsetOf(mem)
	return ok
}

// Owns reports whether a place is the beginning of a segment that the heap owns.
func (h *Heap) Owns(at Location) bool {
	return at.Number != 0 && at.Offset == 0 && h.segments[at.Number-1].own
}

// Segment returns the segment that a place is in, nil if peers cannot reach it.
func (h *Heap) Segment(at Location) *gaspi.Segment {
	if at.Number == 0 {
		return nil
	}
	return h.segments[at.Number-1].Segment
}

// Delete deletes the segment of that number.
func (h *Heap) Delete(number int) error {
	s := &h.segments[number-1]
	err := s.Segment.Delete()
	*s = heapSegment{}
	return err
}

// Close deletes the segments that the heap owns, and returns the first error.
func (h *Heap) Close() error {
	var err error
	for _, s := range h.segments {
		if s.own {
			if derr := s.Segment.Delete(); err == nil {
				err = derr
			}
		}
	}
	return err
}
