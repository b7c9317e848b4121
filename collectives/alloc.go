package collectives

import (
	"context"
	"fmt"
	"reflect"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// An allocation is a segment that callers' buffers lie in.
type allocation struct {
	seg   *gaspi.Segment
	bytes []byte
	own   bool // made by Alloc, not by the program
}

// A place is where a buffer lies: in an allocation, the same at every member, or
// nowhere that peers can reach.
type place struct {
	alloc  int // index in the heap plus 1; 0 for a plain slice
	offset uint64
}

// Alloc makes a vector of n elements, zeroed, that all members of the team can
// reach: operations use it, and any part of it, in place. T has no pointers. It is
// collective, blocks, and takes a segment; n is the same on all members and at
// least 1. Release gives it back.
func Alloc[T any](ctx context.Context, t *Team, n int) ([]T, error) {
	if !t.enter() {
		return nil, refused("alloc")
	}
	defer t.leave()
	typ := reflect.TypeFor[T]()
	var err error
	switch {
	case n < 1:
		err = fmt.Errorf("%w: %d elements; want at least 1", gaspi.ErrOutOfRange, n)
	case !reduce.PointerFree(typ):
		err = fmt.Errorf("%w: elements of type %v have pointers, which mean nothing to other ranks", gaspi.ErrOutOfRange, typ)
	case t.closed:
		err = gaspi.ErrClosed
	}
	if err := agree.Unanimous(ctx, t.own, err); err != nil {
		return nil, teamError("alloc", err)
	}
	seg, err := t.newSegment(ctx, uint64(n)*uint64(typ.Size()), 1)
	if err != nil {
		return nil, teamError("alloc", err)
	}
	t.adopt(seg, true)
	return reduce.Of[T](seg.Bytes()), nil
}

// newSegment makes a segment over the team under an id that is free everywhere.
func (t *Team) newSegment(ctx context.Context, size uint64, notifications uint32) (*gaspi.Segment, error) {
	return t.proc.CreateSegment(ctx, gaspi.AnySegment, size, gaspi.Over(t.own), gaspi.WithNotifications(notifications))
}

// Use makes operations use buffers in seg in place. seg was created over the
// group of the team, or all ranks, and every member calls Use for its segment of
// the same id, in the same order.
func (t *Team) Use(seg *gaspi.Segment) error {
	if !t.enter() {
		return refused("use")
	}
	defer t.leave()
	if t.closed {
		return teamError("use", gaspi.ErrClosed)
	}
	t.adopt(seg, false)
	return nil
}

func (t *Team) adopt(seg *gaspi.Segment, own bool) {
	a := allocation{seg: seg, bytes: seg.Bytes(), own: own}
	for i := range t.heap {
		if t.heap[i].seg == nil {
			t.heap[i] = a
			return
		}
	}
	t.heap = append(t.heap, a)
}

// Release gives back what Alloc made; buf is all of it. It is collective and
// blocks until all members have called it. Plans bound to it must not be used any
// more, nor may buf.
func Release[T any](ctx context.Context, t *Team, buf []T) error {
	if !t.enter() {
		return refused("release")
	}
	defer t.leave()
	at := t.locate(reduce.BytesOf(buf))
	if at.alloc == 0 || at.offset != 0 || !t.heap[at.alloc-1].own {
		return teamError("release", fmt.Errorf("%w: the slice is not what Alloc of this team returned", gaspi.ErrNoSegment))
	}
	if err := t.proc.Barrier(ctx, t.own); err != nil {
		return teamError("release", err)
	}
	a := &t.heap[at.alloc-1]
	for k, p := range t.plans {
		if k.in.alloc == at.alloc || k.out.alloc == at.alloc {
			t.forget(p)
		}
	}
	err := a.seg.Delete()
	*a = allocation{}
	return err
}

// locate is where a buffer lies, or an empty part of one.
func (t *Team) locate(mem []byte) place {
	if len(mem) == 0 && cap(mem) > 0 {
		mem = mem[:1]
	}
	for i := range t.heap {
		if a := &t.heap[i]; a.seg != nil {
			if off, ok := a.seg.OffsetOf(mem); ok {
				return place{i + 1, off}
			}
		}
	}
	return place{}
}
