package collectives

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/collectives/internal/executor"
	"github.com/gaspi-go/gaspi-go/collectives/internal/meeting"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// An allocation is a segment that callers' buffers lie in.
type allocation struct {
	seg   *gaspi.Segment
	bytes []byte
	own   bool // made by Alloc, not by the program
}

// A bufferPlace is where a buffer lies: in an allocation, the same at every member, or
// nowhere that peers can reach.
type bufferPlace struct {
	alloc  int // index in the heap plus 1; 0 for a plain slice
	offset uint64
}

// Alloc makes a vector of n elements, zeroed, that all members of the team can
// reach: operations use it, and any part of it, in place. T has no pointers. It is
// collective, blocks, and takes a segment; n is the same on all members and at
// least 1. Release gives it back. When ctx ends first, the same call made again goes on,
// and others are refused until then.
func Alloc[T any](ctx context.Context, t *Team, n int) ([]T, error) {
	if !t.engine.Enter() {
		return nil, refused("alloc")
	}
	defer t.engine.Leave()
	elem := element.Movable[T]()
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
	t.heap.adopt(seg, true)
	t.resetting.segments.kept = true
	return reduce.Of[T](seg.Bytes()), nil
}

// allocatable returns why n elements of a type cannot be allocated, or nil.
func allocatable(elem element.Type, n int) error {
	if n < 1 {
		return fmt.Errorf("%w: %d elements; want at least 1", gaspi.ErrOutOfRange, n)
	}
	return elem.Check()
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
	t.heap.adopt(seg, false)
	return nil
}

// allocations holds the allocations of a team. One that is released leaves its place empty, so that
// the others keep their numbers.
type allocations []allocation

// adopt adds a segment.
func (h *allocations) adopt(seg *gaspi.Segment, own bool) {
	a := allocation{seg: seg, bytes: seg.Bytes(), own: own}
	for i := range *h {
		if (*h)[i].seg == nil {
			(*h)[i] = a
			return
		}
	}
	*h = append(*h, a)
}

// Release gives back what Alloc made; buf is all of it. It is collective and
// blocks until all members have called it. When ctx ends first, the same call made again
// goes on. Plans bound to it must not be used any
// more, nor may buf.
func Release[T any](ctx context.Context, t *Team, buf []T) error {
	if !t.engine.Enter() {
		return refused("release")
	}
	defer t.engine.Leave()
	at := t.heap.locate(reduce.BytesOf(buf))
	if at.alloc == 0 || at.offset != 0 || !t.heap[at.alloc-1].own {
		return teamError("release", fmt.Errorf("%w: the slice is not what Alloc of this team returned", gaspi.ErrNoSegment))
	}
	if err := t.hold(ctx, holding{call: meeting.Release, alloc: at.alloc}, nil); err != nil {
		return teamError("release", t.lost(err))
	}
	t.early.held = holding{}
	return t.drop(at.alloc)
}

// drop deletes an allocation, and the plans that use it.
func (t *Team) drop(alloc int) error {
	for k, p := range t.plans.byKey {
		if k.in.alloc == alloc || k.out.alloc == alloc {
			t.plans.forget(p)
		}
	}
	a := &t.heap[alloc-1]
	err := a.seg.Delete()
	*a = allocation{}
	return err
}

// locate is where a buffer lies, or an empty part of one.
func (h allocations) locate(mem []byte) bufferPlace {
	if len(mem) == 0 && cap(mem) > 0 {
		mem = mem[:1]
	}
	for i := range h {
		if a := &h[i]; a.seg != nil {
			if off, ok := a.seg.OffsetOf(mem); ok {
				return bufferPlace{i + 1, off}
			}
		}
	}
	return bufferPlace{}
}

// base is where memory at that place begins, nowhere if peers cannot reach it.
func (h allocations) base(at bufferPlace) executor.Base {
	if at.alloc == 0 {
		return executor.Base{}
	}
	return executor.Base{Segment: h[at.alloc-1].seg, Offset: at.offset}
}
