package collectives

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/collectives/internal/meeting"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

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
	t.heap.Add(seg, true)
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
	t.heap.Add(seg, false)
	return nil
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
	at := t.heap.Locate(reduce.BytesOf(buf))
	if !t.heap.Owns(at) {
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
