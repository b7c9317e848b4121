package ssp

import (
	"context"
	"fmt"
	"reflect"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
)

// An Option changes how a Reduction is made. All members must pass the same.
type Option func(*reductionOptions)

type reductionOptions struct {
	segment int64 // -1: agree on one
	tag     gaspi.Tag
}

// WithTag tells New from other calls of it over the same group that other goroutines
// make at the same time; see gaspi.Tag. It is at most 65535. Calls with one tag, or with
// none, match by their order, which then has to be the same on all members.
func WithTag(tag gaspi.Tag) Option {
	return func(o *reductionOptions) { o.tag = tag }
}

// WithSegment makes the reduction use segment id, which must be free on all
// members and which the program must not use while the reduction lives. Without
// this option the members agree on the highest id that is free on all of them.
func WithSegment(id gaspi.SegmentID) Option {
	return func(o *reductionOptions) { o.segment = int64(id) }
}

// New makes a reduction of vectors of n elements over the members of group,
// which is committed. slack is how many calls old a contribution may be; 0 means
// an exact allreduce. All members call it with the same arguments; otherwise all
// get an error that matches gaspi.ErrMismatch.
//
// It is collective, blocks, and takes a segment, a queue and a group of its own
// (Config.Groups of package gaspi). Calls of other goroutines over group do not disturb it;
// several may make reductions at a time, with different tags.
//
// When ctx ends first, and the reduction has no group yet, the others go on waiting; later, their
// calls of New end with gaspi.ErrRevoked, or those of the reduction if they have it. In both cases the
// same call again is right, at this member and at those that got gaspi.ErrRevoked: it goes on with
// the first call, or begins a new one. To give up, revoke group: that ends New at all members that are still in
// it. After an error of ctx or the loss of a member a group number stays taken.
func New[T gaspi.Number](ctx context.Context, group *gaspi.Group, n int, op Op, slack int, opts ...Option) (*Reduction[T], error) {
	o := reductionOptions{segment: -1}
	for _, set := range opts {
		set(&o)
	}
	index, member := group.Rank()
	if !member {
		return nil, openError(group, fmt.Errorf("%w: this rank, %d, is not in the group", gaspi.ErrBadRank, group.Proc().Rank()))
	}
	own, err := agree.Provisional(ctx, group, agree.Reductions, o.tag)
	if err != nil {
		return nil, openError(group, err)
	}
	r := &Reduction[T]{group: group, op: op, slack: slack, shape: newShape(group.Size(), index)}
	a := arguments{n: n, op: op, slack: slack, kind: reflect.TypeFor[T]().Kind(), segment: o.segment}
	if err := r.open(ctx, own, a); err != nil {
		agree.GiveUp(own, err)
		if r.wire != nil {
			_ = r.wire.release() // err says more
		}
		return nil, openError(group, err)
	}
	own.RevokeAlone()
	if r.wire == nil {
		_ = own.Delete() // it is new
	}
	r.endClock = group.Proc().TellClock(&r.told)
	return r, nil
}

func openError(g *gaspi.Group, err error) error {
	return agree.Outermost(&gaspi.OpError{Op: "ssp_new", At: g.String(), Err: err})
}

// open makes sure that all members pass the same arguments, and makes the memory.
func (r *Reduction[T]) open(ctx context.Context, own *gaspi.Group, a arguments) error {
	if err := settleArguments(ctx, own, a, check[T](a, own.Proc().Config())); err != nil {
		return err
	}
	r.steps = stepsOf(r.shape)
	r.result = make([]T, a.n)
	r.own = r.result
	if r.shape.links() == 0 {
		return nil
	}
	message := headerSize + uint64(a.n)*uint64(reflect.TypeFor[T]().Size())
	return r.connect(ctx, own, newLayout(r.slack, message), message, a.segment)
}

// connect makes the wire and the views of its memory. message is the size of one
// message in bytes; segment is the id to use, or -1.
func (r *Reduction[T]) connect(ctx context.Context, own *gaspi.Group, lay slotLayout, message uint64, segment int64) error {
	w := &wire{proc: own.Proc(), own: own, ranks: own.Ranks(), ids: lay.ids(r.shape.links())}
	r.wire = w
	err := w.open(ctx, r.shape, lay, segment)
	if err == nil {
		err = w.connect(r.shape, lay, message)
	}
	if err == nil {
		err = r.views(lay)
	}
	// Nobody writes before everybody is ready to be written to.
	if err := agree.Unanimous(ctx, own, err); err != nil {
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

func (r *Reduction[T]) views(lay slotLayout) (err error) {
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

// A slotLayout says where things lie in the segment of a rank:
//
//	| link 0: slot 0 | slot 1 | ... | source | link 1: ... |
//
// all of them one stride apart, and on its array:
//
//	| link 0: slot 0 | slot 1 | ... | credit | link 1: ... |
type slotLayout struct {
	exact  bool // see inbox
	slots  int
	stride uint64 // bytes of a message, rounded up
}

func newLayout(slack int, message uint64) slotLayout {
	lay := slotLayout{slots: slotsNewest, stride: (message + 63) / 64 * 64}
	if slack == 0 {
		lay.exact, lay.slots = true, slotsExact
	}
	return lay
}

func (y slotLayout) slot(link, slot int) uint64 { return uint64(link*(y.slots+1)+slot) * y.stride }
func (y slotLayout) source(link int) uint64     { return y.slot(link, y.slots) }
func (y slotLayout) size(links int) uint64      { return y.slot(links, 0) }
func (y slotLayout) ids(links int) uint32       { return uint32(links * (y.slots + 1)) }
func (y slotLayout) id(link int) gaspi.NotificationID {
	return gaspi.NotificationID(y.ids(link))
}

// open makes the queue and the segment of a reduction. segment is the id to use, or
// -1: then the members have agreed on one when it returns.
func (w *wire) open(ctx context.Context, s shape, lay slotLayout, segment int64) error {
	var qerr, err error
	w.queue, qerr = w.proc.CreateQueue()
	size, notes := lay.size(s.links()), gaspi.WithNotifications(w.ids)
	if segment >= 0 {
		w.seg, err = w.proc.AllocSegment(gaspi.SegmentID(segment), size, notes)
	} else {
		w.seg, err = w.proc.CreateSegment(ctx, gaspi.AnySegment, size, notes, gaspi.Over(w.own))
	}
	if qerr != nil {
		return qerr
	}
	return err
}

// connect makes the links and lets their members reach the segment. It is local.
func (w *wire) connect(s shape, lay slotLayout, message uint64) error {
	w.lookFn = w.look
	w.links = make([]neighbour, s.links())
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

func (w *wire) openLink(i int, s shape, lay slotLayout, message uint64) error {
	peer, there := w.ranks[s.peer(i)], s.linkThere(i)
	l := &w.links[i]
	*l = neighbour{
		peer: peer, slot0: w.seg.At(peer, lay.slot(there, 0)), id0: lay.id(there), stride: lay.stride,
		out: outbox{slots: int64(lay.slots)},
		in:  receiveWindow{slots: int64(lay.slots), exact: lay.exact},
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
