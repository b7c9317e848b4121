package gaspi_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/google/go-cmp/cmp"
)

// Tests of rows of docs/GASPI.md about groups, segments and operations that no other test has.

func TestGASPIGroupAll(t *testing.T) {
	ranktest.Local(t, 3, small, func(ctx context.Context, p *gaspi.Proc) error {
		if d := cmp.Diff([]gaspi.Rank{0, 1, 2}, p.World().Ranks()); d != "" {
			t.Errorf("ranks of the world (-want +got):\n%s", d)
		}
		ok(p.World().Commit(ctx))
		return p.Barrier(ctx, p.World())
	})
}

func TestGASPIGroupDelete(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		g := must(p.NewGroup(0))
		ok(g.Commit(ctx))
		ok(g.Delete())
		refused(t,
			wanted{"barrier after delete", p.Barrier(ctx, g), gaspi.ErrClosed},
			wanted{"delete of the world", p.World().Delete(), gaspi.ErrInUse})
		return p.Barrier(ctx, p.World())
	})
}

func TestGASPIGroupNum(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		g := must(p.NewGroup(1))
		if n := len(p.Groups()); n != 2 || g.Size() != 1 || p.World().Size() != 2 {
			t.Errorf("%d groups, of %d and %d ranks", n, g.Size(), p.World().Size())
		}
		ok(g.Delete())
		if n := len(p.Groups()); n != 1 {
			t.Errorf("%d groups after a delete", n)
		}
		return nil
	})
}

func TestGASPIShrink(t *testing.T) {
	mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() == 1 {
			synctest.Wait()
			return errDies
		}
		err := p.Barrier(ctx, p.World())
		if !names(err, 1) {
			t.Errorf("barrier: %v, want a RankError about rank 1", err)
		}
		ok(p.World().Revoke(err))
		g := must(p.World().Shrink(ctx))
		if d := cmp.Diff([]gaspi.Rank{0, 2}, g.Ranks()); d != "" {
			t.Errorf("ranks (-want +got):\n%s", d)
		}
		return p.Barrier(ctx, g)
	})
}

func TestGASPISegmentAllocIsOwnAndZeroed(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.AllocSegment(0, 16))
		if !bytes.Equal(s.Bytes(), make([]byte, 16)) {
			t.Errorf("a new segment holds %v", s.Bytes())
		}
		other := 1 - p.Rank()
		refused(t, wanted{"write before Register", p.MustQueue(0).Write(s.At(other, 0), must(s.Span(0, 8))), gaspi.ErrNoSegment})
		ok(p.Barrier(ctx, p.World()))
		ok(s.Register(other))
		ok(p.Barrier(ctx, p.World()))
		ok(p.MustQueue(0).Write(s.At(other, 8), must(s.Span(0, 8))))
		return p.Barrier(ctx, p.World())
	})
}

func TestGASPISegmentUse(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		mem := make([]byte, 8)
		mem[0] = byte(p.Rank()) + 1
		s := must(p.UseSegment(ctx, 0, mem))
		other := 1 - p.Rank()
		ok(p.MustQueue(0).WriteNotify(s.At(other, 7), must(s.Span(0, 1)), gaspi.Notification{ID: 1, Value: 1}))
		await(ctx, s, 1)
		if mem[7] != byte(other)+1 {
			t.Errorf("the program's memory holds %v", mem)
		}
		return p.Barrier(ctx, p.World())
	})
}

func TestGASPISegmentPtr(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 16))
		must(gaspi.View[uint32](s, 4, 3))[2] = 0x01010101
		if d := cmp.Diff([]byte{1, 1, 1, 1}, s.Bytes()[12:]); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		refused(t,
			wanted{"over the end", second(gaspi.View[uint32](s, 4, 4)), gaspi.ErrOutOfRange},
			wanted{"not aligned", second(gaspi.View[uint64](s, 4, 1)), gaspi.ErrUnaligned})
		return nil
	})
}

func TestGASPIWriteAndRead(t *testing.T) {
	pair(t, 4, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		q, src := p.MustQueue(0), must(s.Span(0, 8))
		copy(src.Bytes(), "to-and-f")
		ok(q.Write(s.At(1, 56), src))
		ok(q.Flush(ctx, 1))
		ok(q.Read(must(s.Span(16, 8)), s.At(1, 56)))
		ok(q.Wait(ctx))
		if got := string(s.Bytes()[16:24]); got != "to-and-f" {
			t.Errorf("read %q", got)
		}
	}, func(s *gaspi.Segment) {
		if got := string(s.Bytes()[56:]); got != "to-and-f" {
			t.Errorf("rank 1 holds %q", got)
		}
	})
}

// Wait completes reads and gives entries back, and does not wait for other queues.
func TestGASPIWaitCompletesItsQueue(t *testing.T) {
	pair(t, 4, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		q, other := p.MustQueue(0), p.MustQueue(1)
		ok(q.Read(must(s.Span(0, 8)), s.At(1, 0)))
		ok(other.Notify(s.At(1, 0), gaspi.Notification{ID: 1, Value: 1}))
		ok(q.Wait(ctx))
		if q.Size() != 0 || other.Size() != 1 {
			t.Errorf("%d entries are taken, and %d of the other queue; want 0 and 1", q.Size(), other.Size())
		}
		ok(q.Wait(ended())) // nothing is left to wait for
	}, func(*gaspi.Segment) {})
}

func TestGASPIWriteListAndReadList(t *testing.T) {
	pair(t, 4, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		q := p.MustQueue(0)
		copy(s.Bytes(), "abcd")
		pieces := []gaspi.Transfer{{Local: must(s.Span(0, 1)), Remote: s.At(1, 40)}, {Local: must(s.Span(2, 2)), Remote: s.At(1, 50)}}
		ok(q.WriteList(pieces))
		ok(q.Flush(ctx, 1))
		back := []gaspi.Transfer{{Local: must(s.Span(10, 1)), Remote: s.At(1, 40)}, {Local: must(s.Span(11, 2)), Remote: s.At(1, 50)}}
		ok(q.ReadList(back))
		ok(q.Wait(ctx))
		if got := string(s.Bytes()[10:13]); got != "acd" {
			t.Errorf("read %q", got)
		}
	}, func(s *gaspi.Segment) {
		if got := string(s.Bytes()[40:41]) + string(s.Bytes()[50:52]); got != "acd" {
			t.Errorf("rank 1 holds %q", got)
		}
	})
}

// The notification of a list is in the segment that at names, which need not be that of the data.
func TestGASPIWriteListNotifyInAnotherSegment(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		data, bell := must(p.CreateSegment(ctx, 0, 16)), must(p.CreateSegment(ctx, 1, 8))
		if p.Rank() == 0 {
			copy(data.Bytes(), "xy")
			ok(p.MustQueue(0).WriteListNotify([]gaspi.Transfer{
				{Local: must(data.Span(0, 1)), Remote: data.At(1, 8)}, {Local: must(data.Span(1, 1)), Remote: data.At(1, 9)},
			}, bell.At(1, 0), gaspi.Notification{ID: 2, Value: 9}))
		} else {
			if v := await(ctx, bell, 2); v != 9 || string(data.Bytes()[8:10]) != "xy" || data.Peek(2) != 0 {
				t.Errorf("notification %d, data %q, and in its own segment %d", v, data.Bytes()[8:10], data.Peek(2))
			}
		}
		return p.Barrier(ctx, p.World())
	})
}

func TestGASPIDifference4ValueZeroIsRefused(t *testing.T) {
	pair(t, 4, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		q, x, none := p.MustQueue(0), must(s.Span(0, 8)), gaspi.Notification{ID: 1}
		list := []gaspi.Transfer{{Local: x, Remote: s.At(1, 0)}}
		refused(t,
			wanted{"notify", q.Notify(s.At(1, 0), none), gaspi.ErrZeroValue},
			wanted{"write_notify", q.WriteNotify(s.At(1, 0), x, none), gaspi.ErrZeroValue},
			wanted{"write_notify in another segment", q.WriteNotifyIn(s.At(1, 0), x, 0, none), gaspi.ErrZeroValue},
			wanted{"write_list_notify", q.WriteListNotify(list, s.At(1, 0), none), gaspi.ErrZeroValue},
			wanted{"read_notify", q.ReadNotify(x, s.At(1, 0), none), gaspi.ErrZeroValue},
			wanted{"read_list_notify", q.ReadListNotify(list, s, none), gaspi.ErrZeroValue})
	}, func(s *gaspi.Segment) {
		if v := s.Peek(1); v != 0 {
			t.Errorf("notification %d has arrived", v)
		}
	})
}

func TestGASPIDifference6ReadNotifyPostsAnyValue(t *testing.T) {
	pair(t, 4, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		for _, v := range []gaspi.Value{1, 77, 1<<32 - 1} {
			ok(p.MustQueue(0).ReadNotify(must(s.Span(0, 8)), s.At(1, 8), gaspi.Notification{ID: 5, Value: v}))
			if got := await(ctx, s, 5); got != v {
				t.Errorf("notification %d, want %d", got, v)
			}
		}
		ok(p.MustQueue(0).Wait(ctx))
	}, func(*gaspi.Segment) {})
}

// After Flush a rank that hears of it by other means, here a channel, sees bytes and
// notifications, also over a network that delays them.
func TestGASPIDifference15FlushIsArrival(t *testing.T) {
	cfg := small
	cfg.Emulate = "latency=1ms"
	flushed := make(chan bool, 1)
	ranktest.Local(t, 2, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 16))
		if p.Rank() == 0 {
			s.Bytes()[0] = 7
			ok(p.MustQueue(0).Write(s.At(1, 8), must(s.Span(0, 1))))
			ok(p.MustQueue(0).Notify(s.At(1, 0), gaspi.Notification{ID: 1, Value: 3}))
			ok(p.MustQueue(0).Flush(ctx, 1))
			flushed <- true
		} else {
			<-flushed
			if v := s.Peek(1); v != 3 || s.Bytes()[8] != 7 {
				t.Errorf("notification %d, byte %d after the flush", v, s.Bytes()[8])
			}
		}
		return p.Barrier(ctx, p.World())
	})
}

// Each notification shows at least the bytes that were written with it.
func TestGASPIDifference16WriteNotifyShowsItsOwnData(t *testing.T) {
	const rounds = 1000
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 16))
		words := must(gaspi.View[uint64](s, 0, 2))
		for i := range uint64(rounds) {
			if p.Rank() == 0 {
				words[0] = i + 1
				ok(p.MustQueue(0).WriteNotify(s.At(1, 8), must(s.Span(0, 8)), gaspi.Notification{ID: 1, Value: gaspi.Value(i + 1)}))
				ok(p.MustQueue(0).Wait(ctx))
				await(ctx, s, 2) // rank 1 has read it
			} else if v := await(ctx, s, 1); words[1] != i+1 || uint64(v) != i+1 {
				return errors.New("the bytes of a notification are missing")
			} else {
				tell(p, s, 0, 2)
			}
		}
		return p.Barrier(ctx, p.World())
	})
}
