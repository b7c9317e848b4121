package ssp

import (
	"context"
	"fmt"
	"reflect"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
)

// An Option changes how a Reduction is made. All members must pass the same.
type Option func(*options)

type options struct {
	segment int64 // -1: agree on one
}

// WithSegment makes the reduction use segment id, which must be free on all
// members and which the program must not use while the reduction lives. Without
// this option the members agree on the highest id that is free on all of them.
func WithSegment(id gaspi.SegmentID) Option {
	return func(o *options) { o.segment = int64(id) }
}

// New makes a reduction of vectors of n elements over the members of group,
// which is committed. slack is how many calls old a contribution may be; 0 means
// an exact allreduce. All members call it with the same arguments; otherwise all
// get an error that matches gaspi.ErrMismatch.
//
// It is collective, blocks, and takes a segment and a queue; no other goroutine
// of the rank may create segments or run collectives of the group meanwhile.
// It cannot be resumed: after an error the group's collectives may be out of
// step, and the group is best given up.
func New[T gaspi.Number](ctx context.Context, group *gaspi.Group, n int, op Op, slack int, opts ...Option) (*Reduction[T], error) {
	o := options{segment: -1}
	for _, set := range opts {
		set(&o)
	}
	index, member := group.Rank()
	if !member {
		return nil, openError(group, fmt.Errorf("%w: this rank, %d, is not in the group", gaspi.ErrBadRank, group.Proc().Rank()))
	}
	a := arguments{n: n, op: op, slack: slack, kind: reflect.TypeFor[T]().Kind(), segment: o.segment}
	if err := settleArguments(ctx, group, a, check[T](a, group.Proc().Config())); err != nil {
		return nil, openError(group, err)
	}
	r := &Reduction[T]{group: group, op: op, slack: slack, shape: newShape(group.Size(), index), result: make([]T, n)}
	r.steps = stepsOf(r.shape)
	r.own = r.result
	if r.shape.links() == 0 {
		return r, nil
	}
	message := headerSize + uint64(n)*uint64(reflect.TypeFor[T]().Size())
	if err := r.open(ctx, newLayout(slack, message), message, o.segment); err != nil {
		return nil, openError(group, err)
	}
	return r, nil
}

func openError(g *gaspi.Group, err error) error {
	return agree.Outermost(&gaspi.OpError{Op: "ssp_new", At: g.String(), Err: err})
}

// open makes the wire and the views of its memory. message is the size of one
// message in bytes; segment is the id to use, or -1.
func (r *Reduction[T]) open(ctx context.Context, lay layout, message uint64, segment int64) error {
	if segment < 0 {
		id, err := agree.FreeSegment(ctx, r.group)
		if err != nil {
			return err
		}
		segment = int64(id)
	}
	r.wire = &wire{proc: r.group.Proc(), ranks: r.group.Ranks(), ids: lay.ids(r.shape.links())}
	err := r.wire.open(r.shape, lay, message, gaspi.SegmentID(segment))
	if err == nil {
		err = r.views(lay)
	}
	// Nobody writes before everybody is ready to be written to.
	if err := agree.Unanimous(ctx, r.group, err); err != nil {
		_ = r.wire.release() // err says more
		return err
	}
	r.own = r.out[0]
	if r.shape.speaks() {
		r.own = make([]T, len(r.result))
	}
	if r.shape.speaks() && r.slack > 0 && r.shape.dims > 1 {
		r.rest = make([]T, len(r.result))
	}
	return nil
}

func (r *Reduction[T]) views(lay layout) (err error) {
	view := func(offset uint64) []T {
		xs, verr := gaspi.View[T](r.wire.seg, offset+headerSize, len(r.result))
		if verr != nil {
			err = verr
		}
		return xs
	}
	for i := range r.wire.links {
		var in [maxSlots][]T
		for slot := range lay.slots {
			in[slot] = view(lay.slot(i, slot))
		}
		r.in, r.out = append(r.in, in), append(r.out, view(lay.source(i)))
	}
	return err
}

// A layout says where things lie in the segment of a rank:
//
//	| link 0: slot 0 | slot 1 | ... | source | link 1: ... |
//
// all of them one stride apart, and on its board:
//
//	| link 0: slot 0 | slot 1 | ... | credit | link 1: ... |
type layout struct {
	exact  bool // see inbox
	slots  int
	stride uint64 // bytes of a message, rounded up
}

func newLayout(slack int, message uint64) layout {
	lay := layout{slots: slotsNewest, stride: (message + 63) / 64 * 64}
	if slack == 0 {
		lay.exact, lay.slots = true, slotsExact
	}
	return lay
}

func (y layout) slot(link, slot int) uint64 { return uint64(link*(y.slots+1)+slot) * y.stride }
func (y layout) source(link int) uint64     { return y.slot(link, y.slots) }
func (y layout) size(links int) uint64      { return y.slot(links, 0) }
func (y layout) ids(links int) uint32       { return uint32(links * (y.slots + 1)) }
func (y layout) id(link int) gaspi.NotificationID {
	return gaspi.NotificationID(y.ids(link))
}

// open makes the queue and the segment of a reduction and lets the members reach
// it. It is local.
func (w *wire) open(s shape, lay layout, message uint64, id gaspi.SegmentID) (err error) {
	if w.queue, err = w.proc.CreateQueue(); err != nil {
		return err
	}
	w.seg, err = w.proc.AllocSegment(id, lay.size(s.links()), gaspi.WithNotifications(w.ids))
	if err != nil {
		return err
	}
	w.lookFn = w.look
	w.links = make([]link, s.links())
	for i := range w.links {
		if err := w.openLink(i, s, lay, message); err != nil {
			return err
		}
		if err := w.seg.Register(w.links[i].peer); err != nil {
			return err
		}
	}
	return nil
}

func (w *wire) openLink(i int, s shape, lay layout, message uint64) error {
	peer, there := w.ranks[s.peer(i)], s.linkThere(i)
	l := &w.links[i]
	*l = link{
		peer: peer, slot0: w.seg.At(peer, lay.slot(there, 0)), id0: lay.id(there), stride: lay.stride,
		out: outbox{slots: int64(lay.slots)},
		in:  inbox{slots: int64(lay.slots), exact: lay.exact},
	}
	var err error
	if l.source, err = w.seg.Span(lay.source(i), message); err != nil {
		return err
	}
	if l.header, err = gaspi.View[int64](w.seg, lay.source(i), headerWords); err != nil {
		return err
	}
	for slot := range lay.slots {
		if l.headers[slot], err = gaspi.View[int64](w.seg, lay.slot(i, slot), headerWords); err != nil {
			return err
		}
	}
	return nil
}
