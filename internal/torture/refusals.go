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

// arrays are refusals of waits.
func (b *bad) arrays() []refusal {
	out := gaspi.NotificationID(16)
	return []refusal{
		{"WaitSome beyond the board", gaspi.ErrNoNotification, func() error { _, err := b.seg.WaitSome(b.ctx, 10, 7); return err }},
		{"WaitSome of a range that wraps around", gaspi.ErrNoNotification, func() error { _, err := b.seg.WaitSome(b.ctx, 10, ^uint32(0)-3); return err }},
		{"TrySome beyond the board", gaspi.ErrNoNotification, func() error { _, _, err := b.seg.TrySome(out, 1); return err }},
		{"WaitAll beyond the board", gaspi.ErrNoNotification, func() error { return b.seg.WaitAll(b.ctx, 0, 17) }},
		{"TryAll beyond the board", gaspi.ErrNoNotification, func() error { _, err := b.seg.TryAll(15, 2); return err }},
		{"WaitUntil beyond the board", gaspi.ErrNoNotification, func() error { return b.seg.WaitUntil(b.ctx, out, gaspi.Equal, 1) }},
		{"TryUntil beyond the board", gaspi.ErrNoNotification, func() error { _, err := b.seg.TryUntil(out, gaspi.Equal, 1); return err }},
		{"Reset beyond the board", gaspi.ErrNoNotification, func() error { _, err := b.seg.Reset(out); return err }},
	}
}

// segments are refusals of segments and spans.
func (b *bad) segments() []refusal {
	free := b.base + 7
	alloc := func(id gaspi.SegmentID, size uint64) func() error {
		return func() error { _, err := b.p.AllocSegment(id, size); return err }
	}
	span := func(offset, size uint64) func() error {
		return func() error { _, err := b.seg.Span(offset, size); return err }
	}
	return []refusal{
		{"AllocSegment of an id that is taken", gaspi.ErrInUse, alloc(b.seg.ID(), 8)},
		{"AllocSegment of size 0", nil, alloc(free, 0)},
		{"AllocSegment of more than 2^46 bytes", nil, alloc(free, 1<<46+1)},
		{"AllocSegment beyond Config.Segments", gaspi.ErrNoSegment, alloc(gaspi.SegmentID(b.p.Config().Segments), 8)},
		{"CreateSegment of an id that is taken", gaspi.ErrInUse, func() error {
			alone, err := b.p.NewGroup(b.p.Rank())
			if err != nil {
				return err
			}
			defer alone.Delete()
			if err := alone.Commit(b.ctx); err != nil {
				return err
			}
			_, err = b.p.CreateSegment(b.ctx, b.seg.ID(), 8, gaspi.Over(alone))
			return err
		}},
		{"BindSegment of an id that is taken", gaspi.ErrInUse, func() error { _, err := b.p.BindSegment(b.seg.ID(), make([]byte, 8)); return err }},
		{"BindSegment of no memory", nil, func() error { _, err := b.p.BindSegment(free, nil); return err }},
		{"Segment that is not there", gaspi.ErrNoSegment, func() error { _, err := b.p.Segment(free); return err }},
		{"DeleteSegment that is not there", gaspi.ErrNoSegment, func() error { return b.p.DeleteSegment(free) }},
		{"RemoteSize of a segment that is not there", gaspi.ErrNoSegment, func() error { _, _, err := b.p.RemoteSize(b.peer, free); return err }},
		{"RemoteSize at a rank that is not there", gaspi.ErrBadRank, func() error { _, _, err := b.p.RemoteSize(gaspi.Rank(b.p.Size()), b.seg.ID()); return err }},
		{"Register with a rank that is not there", gaspi.ErrBadRank, func() error { return b.seg.Register(gaspi.Rank(b.p.Size())) }},
		{"Span beyond the end", gaspi.ErrOutOfRange, span(100, 29)},
		{"Span that wraps around", gaspi.ErrOutOfRange, span(8, ^uint64(0)-3)},
		{"Sub beyond the end", gaspi.ErrOutOfRange, func() error { _, err := b.span.Sub(10, 7); return err }},
		{"View beyond the end", gaspi.ErrOutOfRange, func() error { _, err := gaspi.View[uint64](b.seg, 120, 2); return err }},
		{"View at an odd offset", gaspi.ErrUnaligned, func() error { _, err := gaspi.View[uint64](b.seg, 4, 1); return err }},
	}
}

// groups are refusals of groups and their collectives.
func (b *bad) groups() []refusal {
	world := b.p.World()
	fresh := func(use func(g *gaspi.Group) error) func() error {
		return func() error {
			g, err := b.p.NewGroup(b.p.Rank())
			if err != nil {
				return err
			}
			defer g.Delete()
			return use(g)
		}
	}
	word, two := []int64{1}, make([]int64, 2)
	long := make([]int64, b.p.Config().AllReduceElements+1)
	return []refusal{
		{"NewGroup of a rank that is not there", gaspi.ErrBadRank, func() error { _, err := b.p.NewGroup(gaspi.Rank(b.p.Size())); return err }},
		{"NewGroup of a rank twice", gaspi.ErrInUse, func() error { _, err := b.p.NewGroup(0, 0); return err }},
		{"Add of a rank that is in it", gaspi.ErrInUse, fresh(func(g *gaspi.Group) error { return g.Add(b.p.Rank()) })},
		{"Add of a rank that is not there", gaspi.ErrBadRank, fresh(func(g *gaspi.Group) error { return g.Add(-1) })},
		{"Add to a group that is committed", nil, func() error { return world.Add(0) }},
		{"Delete of the world", nil, world.Delete},
		{"Barrier before Commit", nil, fresh(func(g *gaspi.Group) error { return b.p.Barrier(b.ctx, g) })},
		{"AllReduce before Commit", nil, fresh(func(g *gaspi.Group) error { return gaspi.AllReduce(b.ctx, g, word, word, gaspi.Sum) })},
		{"Barrier after Delete", gaspi.ErrClosed, fresh(func(g *gaspi.Group) error {
			return errors.Join(g.Commit(b.ctx), g.Delete(), b.p.Barrier(b.ctx, g))
		})},
		{"AllReduce of too many elements", gaspi.ErrTooLarge, func() error { return gaspi.AllReduce(b.ctx, world, long, long, gaspi.Sum) }},
		{"AllReduce of two lengths", nil, func() error { return gaspi.AllReduce(b.ctx, world, word, two, gaspi.Sum) }},
		{"AllReduce by an operation for integers of floats", nil, func() error {
			x := []float64{1}
			return gaspi.AllReduce(b.ctx, world, x, x, gaspi.Xor)
		}},
		{"Ping of a rank that is not there", gaspi.ErrBadRank, func() error { return b.p.Ping(b.ctx, gaspi.Rank(b.p.Size())) }},
	}
}

// atomics are refusals of all eight.
func (b *bad) atomics() []refusal {
	var all []refusal
	calls := []struct {
		name string
		do   func(at gaspi.Remote) error
	}{
		{"FetchAdd", func(at gaspi.Remote) error { _, err := b.p.FetchAdd(b.ctx, at, 1); return err }},
		{"CompareSwap", func(at gaspi.Remote) error { _, err := b.p.CompareSwap(b.ctx, at, 0, 1); return err }},
		{"Swap", func(at gaspi.Remote) error { _, err := b.p.Swap(b.ctx, at, 1); return err }},
		{"FetchMin", func(at gaspi.Remote) error { _, err := b.p.FetchMin(b.ctx, at, 0); return err }},
		{"FetchMax", func(at gaspi.Remote) error { _, err := b.p.FetchMax(b.ctx, at, 1); return err }},
		{"FetchAnd", func(at gaspi.Remote) error { _, err := b.p.FetchAnd(b.ctx, at, 0); return err }},
		{"FetchOr", func(at gaspi.Remote) error { _, err := b.p.FetchOr(b.ctx, at, 1); return err }},
		{"FetchXor", func(at gaspi.Remote) error { _, err := b.p.FetchXor(b.ctx, at, 1); return err }},
	}
	for _, call := range calls {
		for _, c := range []struct {
			what string
			at   gaspi.Remote
			want error
		}{
			{"at an odd offset", b.seg.At(b.peer, 4), gaspi.ErrUnaligned},
			{"beyond the end", b.seg.At(b.peer, b.seg.Size()), gaspi.ErrOutOfRange},
			{"at the end of the world", b.seg.At(b.peer, ^uint64(7)), gaspi.ErrOutOfRange},
			{"at a rank that is not there", b.seg.At(gaspi.Rank(b.p.Size()), 0), gaspi.ErrBadRank},
			{"in a segment that is not there", gaspi.Remote{Rank: b.peer, Segment: b.base + 7}, gaspi.ErrNoSegment},
		} {
			all = append(all, refusal{call.name + " " + c.what, c.want, func() error { return call.do(c.at) }})
		}
	}
	return all
}

// passive are refusals of passive messages, and of transfers that are too long.
func (b *bad) passive() []refusal {
	sized := func(size uint64, use func(span gaspi.Span) error) func() error {
		return func() error {
			seg, err := b.p.AllocSegment(b.base+6, size)
			if err != nil {
				return err
			}
			defer seg.Delete()
			span, err := seg.Span(0, size)
			if err != nil {
				return err
			}
			return use(span)
		}
	}
	cfg := b.p.Config()
	return []refusal{
		{"PassiveSend to a rank that is not there", gaspi.ErrBadRank, func() error { return b.p.PassiveSend(b.ctx, gaspi.Rank(b.p.Size()), b.span) }},
		{"PassiveSend of too much", gaspi.ErrTooLarge, sized(uint64(cfg.PassiveMax+1), func(span gaspi.Span) error { return b.p.PassiveSend(b.ctx, b.peer, span) })},
		{"a transfer of too much", gaspi.ErrTooLarge, sized(cfg.TransferMax+1, func(span gaspi.Span) error { return b.q.Write(b.seg.At(b.peer, 0), span) })},
	}
}
