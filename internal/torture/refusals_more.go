package torture

import (
	"errors"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

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

// passive are refusals of passive messages.
func (b *bad) passive() []refusal {
	return []refusal{
		{"PassiveSend to a rank that is not there", gaspi.ErrBadRank, func() error { return b.p.PassiveSend(b.ctx, gaspi.Rank(b.p.Size()), b.span) }},
		{"PassiveSend of too much", gaspi.ErrTooLarge, func() error {
			size := uint64(b.p.Config().PassiveMax + 1)
			seg, err := b.p.AllocSegment(b.base+6, size)
			if err != nil {
				return err
			}
			defer seg.Delete()
			span, err := seg.Span(0, size)
			if err != nil {
				return err
			}
			return b.p.PassiveSend(b.ctx, b.peer, span)
		}},
		{"a transfer of too much", gaspi.ErrTooLarge, func() error {
			size := b.p.Config().TransferMax + 1
			seg, err := b.p.AllocSegment(b.base+6, size)
			if err != nil {
				return err
			}
			defer seg.Delete()
			span, err := seg.Span(0, size)
			if err != nil {
				return err
			}
			return b.q.Write(b.seg.At(b.peer, 0), span)
		}},
	}
}
