package gaspi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// stream has rank 0 send rounds of 16 words to every other rank in a way of its
// own, each followed by notification 0 with the round as value, and the others
// check that the notification shows the words.
func stream(t *testing.T, rounds uint64, send func(q *gaspi.Queue, s *gaspi.Segment, to gaspi.Rank, n gaspi.Notification) error) {
	t.Helper()
	ranktest.Local(t, 3, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 256))
		words := must(gaspi.View[uint64](s, 0, 32))
		for round := uint64(1); round <= rounds; round++ {
			if p.Rank() > 0 {
				if v := await(ctx, s, 0); v != gaspi.Value(round) {
					return fmt.Errorf("round %d: value %d", round, v)
				}
				for i, w := range words[16:] {
					if w != round<<8+uint64(i) {
						return fmt.Errorf("round %d: word %d is %#x", round, i, w)
					}
				}
				tell(p, s, 0, gaspi.NotificationID(p.Rank()))
				continue
			}
			for i := range words[:16] {
				words[i] = round<<8 + uint64(i)
			}
			for to := gaspi.Rank(1); to < 3; to++ {
				ok(send(p.MustQueue(0), s, to, gaspi.Notification{ID: 0, Value: gaspi.Value(round)}))
			}
			ok(p.MustQueue(0).Wait(ctx))
			await(ctx, s, 1)
			await(ctx, s, 2)
		}
		return nil
	})
}

func TestGASPINotifyShowsTheDataBeforeIt(t *testing.T) {
	pieces := func(s *gaspi.Segment, to gaspi.Rank) []gaspi.Transfer {
		var list []gaspi.Transfer
		for i := range uint64(16) {
			list = append(list, gaspi.Transfer{Local: must(s.Span(8*i, 8)), Remote: s.At(to, 128+8*i)})
		}
		return list
	}
	for _, c := range []struct {
		name string
		send func(q *gaspi.Queue, s *gaspi.Segment, to gaspi.Rank, n gaspi.Notification) error
	}{
		{"write_notify", func(q *gaspi.Queue, s *gaspi.Segment, to gaspi.Rank, n gaspi.Notification) error {
			return q.WriteNotify(s.At(to, 128), must(s.Span(0, 128)), n)
		}},
		{"notify after writes", func(q *gaspi.Queue, s *gaspi.Segment, to gaspi.Rank, n gaspi.Notification) error {
			for _, t := range pieces(s, to) {
				ok(q.Write(t.Remote, t.Local))
			}
			return q.Notify(s.At(to, 0), n)
		}},
		{"notify after a list", func(q *gaspi.Queue, s *gaspi.Segment, to gaspi.Rank, n gaspi.Notification) error {
			ok(q.WriteList(pieces(s, to)))
			return q.Notify(s.At(to, 0), n)
		}},
		{"write_list_notify", func(q *gaspi.Queue, s *gaspi.Segment, to gaspi.Rank, n gaspi.Notification) error {
			return q.WriteListNotify(pieces(s, to), s.At(to, 0), n)
		}},
		{"flush, and word on another queue", func(q *gaspi.Queue, s *gaspi.Segment, to gaspi.Rank, n gaspi.Notification) error {
			ok(q.WriteList(pieces(s, to)))
			ok(q.Flush(context.Background(), to))
			return q.Notify(s.At(to, 0), n)
		}},
	} {
		t.Run(c.name, func(t *testing.T) { stream(t, 500, c.send) })
	}
}

func TestGASPIReadNotifyShowsTheDataRead(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 256))
		other := 1 - p.Rank()
		mine := s.Bytes()[:64]
		for i := range mine {
			mine[i] = byte(i) ^ byte(100*p.Rank())
		}
		want := make([]byte, 64)
		for i := range want {
			want[i] = byte(i) ^ byte(100*other)
		}
		ok(p.Barrier(ctx, p.World()))
		q, got := p.MustQueue(0), s.Bytes()[64:128]
		check := func(how string) {
			if !bytes.Equal(got, want) {
				panic(fmt.Sprintf("%s: got %v", how, got))
			}
			clear(got)
		}
		var list []gaspi.Transfer
		for i := range uint64(8) {
			list = append(list, gaspi.Transfer{Local: must(s.Span(64+8*i, 8)), Remote: s.At(other, 8*i)})
		}
		ok(q.ReadNotify(must(s.Span(64, 64)), s.At(other, 0), gaspi.Notification{ID: 2, Value: 77}))
		if v := await(ctx, s, 2); v != 77 {
			return fmt.Errorf("value %d, want 77", v)
		}
		check("read_notify")
		ok(q.ReadListNotify(list, s, gaspi.Notification{ID: 3, Value: 1}))
		await(ctx, s, 3)
		check("read_list_notify")
		ok(q.ReadList(list))
		ok(q.Wait(ctx))
		check("read_list")
		ok(q.Read(must(s.Span(64, 64)), s.At(other, 0)))
		ok(q.Wait(ctx))
		check("read")
		return p.Barrier(ctx, p.World())
	})
}

// A list is issued whole or not at all, whatever is wrong with which entry.
func TestGASPIDifference11ListsAreAllOrNothing(t *testing.T) {
	const depth = 8
	pair(t, depth, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		q := p.MustQueue(0)
		for i := range s.Bytes()[:8] {
			s.Bytes()[i] = 0xee
		}
		src, stale := must(s.Span(0, 1)), must(p.AllocSegment(1, 8))
		gone := must(stale.Span(0, 1))
		ok(stale.Delete())
		fine := func(n int) (list []gaspi.Transfer) {
			for i := range uint64(n) {
				list = append(list, gaspi.Transfer{Local: src, Remote: s.At(1, i)})
			}
			return list
		}
		broken := func(bad gaspi.Transfer) []gaspi.Transfer {
			list := fine(5)
			list[2] = bad
			return list
		}
		for _, c := range []struct {
			name string
			list []gaspi.Transfer
			want error
		}{
			{"one more than the queue holds", fine(depth + 1), gaspi.ErrQueueFull},
			{"out of range in the middle", broken(gaspi.Transfer{Local: src, Remote: s.At(1, 64)}), gaspi.ErrOutOfRange},
			{"overflow in the middle", broken(gaspi.Transfer{Local: src, Remote: s.At(1, ^uint64(0))}), gaspi.ErrOutOfRange},
			{"other rank in the middle", broken(gaspi.Transfer{Local: src, Remote: s.At(0, 1)}), gaspi.ErrBadRank},
			{"no segment in the middle", broken(gaspi.Transfer{Local: src, Remote: gaspi.Remote{Rank: 1, Segment: 7}}), gaspi.ErrNoSegment},
			{"deleted source in the middle", broken(gaspi.Transfer{Local: gone, Remote: s.At(1, 1)}), gaspi.ErrClosed},
		} {
			for name, err := range map[string]error{
				"write_list":        q.WriteList(c.list),
				"write_list_notify": q.WriteListNotify(c.list, s.At(1, 0), gaspi.Notification{ID: 1, Value: 1}),
				"read_list":         q.ReadList(c.list),
				"read_list_notify":  q.ReadListNotify(c.list, s, gaspi.Notification{ID: 1, Value: 1}),
			} {
				if !errors.Is(err, c.want) {
					t.Errorf("%s, %s: %v, want %v", name, c.name, err, c.want)
				}
			}
			if q.Size() != 0 || s.Peek(1) != 0 || src.Bytes()[0] != 0xee {
				t.Errorf("%s: %d entries taken, notification %d, source %#x: something was issued", c.name, q.Size(), s.Peek(1), src.Bytes()[0])
			}
		}
		if err := q.WriteListNotify(fine(depth), s.At(1, 0), gaspi.Notification{ID: 1, Value: 1}); err != gaspi.ErrQueueFull {
			t.Errorf("no room for the notification of a list: %v, want ErrQueueFull", err)
		}
		ok(q.WriteList([]gaspi.Transfer{{Local: src, Remote: s.At(1, 63)}})) // and fine ones still go
		ok(q.Flush(ctx, 1))
	}, func(s *gaspi.Segment) {
		want := make([]byte, 64)
		want[63] = 0xee
		if !bytes.Equal(s.Bytes(), want) || s.Peek(1) != 0 {
			t.Errorf("rank 1 holds %v, notification %d", s.Bytes(), s.Peek(1))
		}
	})
}
