package torture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A refusal is a call that makes no sense, and the error that it must end with at once. A
// want of nil means any error but that of a context.
type refusal struct {
	name string
	want error
	call func() error
}

// refusalLimit is how long a call may take that must fail at once, on a machine that is
// very busy.
const refusalLimit = 20 * time.Second

// bad is the material of refusals.
type bad struct {
	*scene
	ctx  context.Context
	seg  *gaspi.Segment
	span gaspi.Span // 16 bytes of seg
	q    *gaspi.Queue
	peer gaspi.Rank
}

// refusals makes calls that must be refused, in any order, and then uses everything that
// they were about.
func refusals(ctx context.Context, s *scene) error { return refuse(ctx, s, (*bad).all) }

func refuse(ctx context.Context, s *scene, list func(b *bad) []refusal) error {
	rng := s.own()
	seg, err := s.create(ctx, rng, s.base, 128, 16, s.plan.IntN(2) == 0)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, refusalLimit)
	defer cancel()
	b := &bad{scene: s, ctx: limited, seg: seg, peer: s.members[rng.IntN(len(s.members))]}
	if b.span, err = seg.Span(8, 16); err != nil {
		return err
	}
	if b.q, err = s.p.CreateQueue(); err != nil {
		return err
	}
	if err := s.barrier(ctx, rng); err != nil {
		return err
	}
	for _, r := range list(b) {
		// An operation that was refused late holds its entry of the queue until the next Wait.
		if err := b.await(ctx, rng, b.q); err != nil {
			return err
		}
		err := r.call()
		if s.mutant("accepted") {
			err = nil
		}
		if err == nil || timeLimit(err) || !errors.Is(err, r.want) && r.want != nil {
			return fmt.Errorf("%s, peer %d: %v, want %v", r.name, b.peer, err, r.want)
		}
		s.did(1)
	}
	if err := s.barrier(ctx, rng); err != nil {
		return err
	}
	return b.still(ctx)
}

// all lists the refusals in a random order.
func (b *bad) all() []refusal {
	list := append(b.writes(), b.arrays()...)
	list = append(list, b.segments()...)
	list = append(list, b.groups()...)
	list = append(list, b.atomics()...)
	list = append(list, b.passive()...)
	b.own(1).Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list
}

// still proves that nothing was harmed: all bytes are 0 but those of one write that is good.
func (b *bad) still(ctx context.Context) error {
	for i, x := range b.seg.Bytes() {
		if x != 0 {
			return fmt.Errorf("byte %d of the segment is %#x after calls that were refused", i, x)
		}
	}
	for id := range gaspi.NotificationID(16) {
		if v := b.seg.Peek(id); v != 0 {
			return fmt.Errorf("notification %d is %d after calls that were refused", id, v)
		}
	}
	rng := b.own(2)
	if err := b.barrier(ctx, rng); err != nil {
		return err
	}
	next := b.members[(b.me+1)%len(b.members)]
	err := b.post(ctx, rng, b.q, func() error {
		return b.q.WriteNotify(b.seg.At(next, 64), b.span, gaspi.Notification{ID: 15, Value: 1})
	})
	if err != nil {
		return err
	}
	if _, err := b.seg.WaitSome(ctx, 15, 1); err != nil {
		return err
	}
	if err := b.await(ctx, rng, b.q); err != nil {
		return err
	}
	if err := b.barrier(ctx, rng); err != nil {
		return err
	}
	if err := b.q.Delete(); err != nil {
		return err
	}
	return b.seg.Delete()
}

// writes are refusals of what queues do.
func (b *bad) writes() []refusal {
	at, note := b.seg.At(b.peer, 0), gaspi.Notification{ID: 3, Value: 1}
	far, size := gaspi.Rank(b.p.Size()+b.own(3).IntN(1000)), b.seg.Size()
	none := gaspi.Remote{Rank: b.peer, Segment: b.base + 7}
	beyond := gaspi.Remote{Rank: b.peer, Segment: gaspi.SegmentID(b.p.Config().Segments)}
	list := []gaspi.Transfer{{Local: b.span, Remote: at}, {Local: b.span, Remote: at.Plus(size)}}
	long := make([]gaspi.Transfer, b.p.Config().ListMax+1)
	for i := range long {
		long[i] = list[0]
	}
	all := []refusal{
		{"Write to a rank that is not there", gaspi.ErrBadRank, func() error { return b.q.Write(b.seg.At(far, 0), b.span) }},
		{"Write to rank -1", gaspi.ErrBadRank, func() error { return b.q.Write(b.seg.At(-1, 0), b.span) }},
		{"Read from a rank that is not there", gaspi.ErrBadRank, func() error { return b.q.Read(b.span, b.seg.At(far, 0)) }},
		{"Notify a rank that is not there", gaspi.ErrBadRank, func() error { return b.q.Notify(b.seg.At(far, 0), note) }},
		{"Write beyond the end", gaspi.ErrOutOfRange, func() error { return b.q.Write(b.seg.At(b.peer, size-15), b.span) }},
		{"Write at an offset that wraps around", gaspi.ErrOutOfRange, func() error { return b.q.Write(b.seg.At(b.peer, ^uint64(7)), b.span) }},
		{"Read beyond the end", gaspi.ErrOutOfRange, func() error { return b.q.Read(b.span, b.seg.At(b.peer, size)) }},
		{"WriteNotify beyond the end", gaspi.ErrOutOfRange, func() error { return b.q.WriteNotify(b.seg.At(b.peer, size), b.span, note) }},
		{"ReadNotify beyond the end", gaspi.ErrOutOfRange, func() error { return b.q.ReadNotify(b.span, b.seg.At(b.peer, size), note) }},
		{"Write to a segment that is not there", gaspi.ErrNoSegment, func() error { return b.q.Write(none, b.span) }},
		{"Read from a segment that is not there", gaspi.ErrNoSegment, func() error { return b.q.Read(b.span, none) }},
		{"Notify in a segment that is not there", gaspi.ErrNoSegment, func() error { return b.q.Notify(none, note) }},
		{"Write to a segment beyond Config.Segments", gaspi.ErrNoSegment, func() error { return b.q.Write(beyond, b.span) }},
		{"WriteNotifyIn a segment that is not there", gaspi.ErrNoSegment, func() error { return b.q.WriteNotifyIn(at, b.span, none.Segment, note) }},
		{"WriteList with an entry beyond the end", gaspi.ErrOutOfRange, func() error { return b.q.WriteList(list) }},
		{"WriteListNotify with an entry beyond the end", gaspi.ErrOutOfRange, func() error { return b.q.WriteListNotify(list, at, note) }},
		{"ReadList with an entry beyond the end", gaspi.ErrOutOfRange, func() error { return b.q.ReadList(list) }},
		{"WriteList of too many entries", gaspi.ErrTooLarge, func() error { return b.q.WriteList(long) }},
		{"Flush to a rank that is not there", gaspi.ErrBadRank, func() error { return b.q.Flush(b.ctx, far) }},
		{"a queue that is not there", nil, func() error { _, err := b.p.Queue(1 << 20); return err }},
		{"queue -1", nil, func() error { _, err := b.p.Queue(-1); return err }},
	}
	if len(b.members) > 1 {
		other := b.members[(b.me+1)%len(b.members)]
		mixed := []gaspi.Transfer{{Local: b.span, Remote: b.seg.At(other, 0)}, {Local: b.span, Remote: b.seg.At(b.p.Rank(), 0)}}
		all = append(all, refusal{"WriteList to two ranks", nil, func() error { return b.q.WriteList(mixed) }})
	}
	for _, n := range []struct {
		what string
		note gaspi.Notification
		want error
	}{
		{"notification 16 of 16", gaspi.Notification{ID: 16, Value: 1}, gaspi.ErrNoNotification},
		{"the last number of a notification", gaspi.Notification{ID: ^gaspi.NotificationID(0), Value: 1}, gaspi.ErrNoNotification},
		{"value 0", gaspi.Notification{ID: 3}, gaspi.ErrZeroValue},
		{"adding 0", gaspi.Notification{ID: 3, Add: true}, gaspi.ErrZeroValue},
	} {
		all = append(all,
			refusal{"Notify with " + n.what, n.want, func() error { return b.q.Notify(at, n.note) }},
			refusal{"WriteNotify with " + n.what, n.want, func() error { return b.q.WriteNotify(at, b.span, n.note) }},
			refusal{"ReadNotify with " + n.what, n.want, func() error { return b.q.ReadNotify(b.span, at, n.note) }},
			refusal{"WriteListNotify with " + n.what, n.want, func() error { return b.q.WriteListNotify(list[:1], at, n.note) }},
			refusal{"ReadListNotify with " + n.what, n.want, func() error { return b.q.ReadListNotify(list[:1], b.seg, n.note) }})
	}
	return all
}
