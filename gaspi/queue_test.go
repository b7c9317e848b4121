package gaspi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/google/go-cmp/cmp"
)

// pair runs two ranks with queues of depth entries and a segment of 64 bytes
// each: rank 0 does act, rank 1 answers nothing and stays until it is done, and
// then does look.
func pair(t *testing.T, depth int, act func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment), look func(s *gaspi.Segment)) {
	t.Helper()
	cfg := small
	cfg.QueueDepth = depth
	err := gaspi.Local(t.Context(), 2, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if p.Rank() == 0 {
			act(ctx, p, s)
		}
		ok(p.Barrier(ctx, p.World()))
		if p.Rank() == 1 {
			look(s)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// GPI-2 marks the healthy peer corrupt when a post finds the queue full.
func TestGASPIQueueFullIsNoFault(t *testing.T) {
	pair(t, 4, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		q := p.MustQueue(0)
		post := func(i uint64) error {
			src := must(s.Span(i, 1))
			src.Bytes()[0] = byte(i + 1)
			return q.Write(s.At(1, i), src)
		}
		for i := range uint64(6) {
			var want error
			if i >= 4 {
				want = gaspi.ErrQueueFull
			}
			if err := post(i); err != want {
				t.Errorf("write %d: got %v, want %v", i, err, want)
			}
		}
		one := gaspi.Notification{ID: 1, Value: 1}
		for name, err := range map[string]error{
			"write_notify": q.WriteNotify(s.At(1, 0), must(s.Span(0, 1)), one),
			"notify":       q.Notify(s.At(1, 0), one),
			"read":         q.Read(must(s.Span(9, 1)), s.At(1, 0)),
			"read_notify":  q.ReadNotify(must(s.Span(9, 1)), s.At(1, 0), one),
			"write_list":   q.WriteList([]gaspi.Transfer{{Local: must(s.Span(0, 1)), Remote: s.At(1, 9)}}),
			"read_list":    q.ReadList([]gaspi.Transfer{{Local: must(s.Span(0, 1)), Remote: s.At(1, 9)}}),
		} {
			if err != gaspi.ErrQueueFull {
				t.Errorf("%s on a full queue: got %v, want ErrQueueFull, bare", name, err)
			}
		}
		if q.Size() != 4 || q.Depth() != 4 {
			t.Errorf("size %d of %d, want 4 of 4", q.Size(), q.Depth())
		}
		if !healthy(p) {
			t.Errorf("state %v after a full queue", p.State())
		}
		ok(p.MustQueue(1).Notify(s.At(1, 0), gaspi.Notification{ID: 0, Value: 1})) // other queues have room
		ok(q.Wait(ctx))
		if q.Size() != 0 {
			t.Errorf("size %d after a wait", q.Size())
		}
		ok(post(4)) // issued again; the write of 6 never was
		ok(q.Flush(ctx, 1))
	}, func(s *gaspi.Segment) {
		if got, want := s.Bytes()[:8], []byte{1, 2, 3, 4, 5, 0, 0, 0}; !bytes.Equal(got, want) {
			t.Errorf("rank 1 holds %v, want %v", got, want)
		}
		if v := s.Peek(1); v != 0 {
			t.Errorf("a notification that was refused has arrived: %d", v)
		}
	})
}

// On TCP, GPI-2 takes two entries for each.
func TestGASPIWriteNotifyTakesOneEntry(t *testing.T) {
	pair(t, 16, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		q, src, n := p.MustQueue(0), must(s.Span(0, 8)), gaspi.Notification{ID: 1, Value: 1}
		list := []gaspi.Transfer{{Local: src, Remote: s.At(1, 8)}, {}, {Local: src, Remote: s.At(1, 16)}}
		list[1].Remote.Rank = 1 // an entry of size 0
		for _, c := range []struct {
			name string
			post func() error
			want int // entries taken after it
		}{
			{"write", func() error { return q.Write(s.At(1, 8), src) }, 1},
			{"write_notify", func() error { return q.WriteNotify(s.At(1, 8), src, n) }, 2},
			{"notify", func() error { return q.Notify(s.At(1, 8), n) }, 3},
			{"read", func() error { return q.Read(src, s.At(1, 8)) }, 4},
			{"read_notify", func() error { return q.ReadNotify(src, s.At(1, 8), n) }, 5},
			{"write_list of two", func() error { return q.WriteList(list) }, 7},
			{"write_list_notify of two", func() error { return q.WriteListNotify(list, s.At(1, 0), n) }, 10},
			{"read_list of two", func() error { return q.ReadList(list) }, 12},
			{"read_list_notify of two", func() error { return q.ReadListNotify(list, s, n) }, 15},
		} {
			if err := c.post(); err != nil || q.Size() != c.want {
				t.Errorf("%s: %v, then %d entries are taken, want %d", c.name, err, q.Size(), c.want)
			}
		}
		ok(q.Wait(ctx))
	}, func(*gaspi.Segment) {})
}

// GPI-2's own test of this fails on its TCP device.
func TestGASPIDifference1QueueHoldsItsDepth(t *testing.T) {
	const depth = 100
	pair(t, depth, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		post := func() error {
			return p.MustQueue(0).WriteNotify(s.At(1, 0), must(s.Span(0, 8)), gaspi.Notification{ID: 1, Value: 1})
		}
		for round := range 3 {
			for i := range depth {
				if err := post(); err != nil {
					t.Fatalf("round %d: write_notify %d of %d: %v", round, i, depth, err)
				}
			}
			if err := post(); err != gaspi.ErrQueueFull {
				t.Errorf("round %d: one more than the depth: %v", round, err)
			}
			ok(p.MustQueue(0).Wait(ctx))
		}
	}, func(*gaspi.Segment) {})
}

// Goal: Post of a list that an empty queue has no room for ends by an error; it would try for ever, also when its context has
// ended. A list that needs all entries waits for room.
// Method: each list call with as many entries as the queue has and one more, over a queue with one entry. Entries of size 0 and
// with the own rank take none.
func TestPostOfAListLongerThanTheQueue(t *testing.T) {
	const depth = 4
	pair(t, depth, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		q, src, n := p.MustQueue(0), must(s.Span(0, 8)), gaspi.Notification{ID: 2, Value: 7}
		list := func(to gaspi.Rank, moves, empty int) []gaspi.Transfer {
			all := slices.Repeat([]gaspi.Transfer{{Local: src, Remote: s.At(to, 8)}}, moves)
			return append(all, slices.Repeat([]gaspi.Transfer{{Local: must(s.Span(0, 0)), Remote: s.At(to, 8)}}, empty)...)
		}
		for name, call := range map[string]func(list []gaspi.Transfer) error{
			"write_list": q.WriteList, "read_list": q.ReadList,
			"write_list_notify": func(list []gaspi.Transfer) error { return q.WriteListNotify(list[1:], list[0].Remote, n) },
			"read_list_notify":  func(list []gaspi.Transfer) error { return q.ReadListNotify(list[1:], s, n) },
		} {
			for _, c := range []struct {
				list []gaspi.Transfer
				fits bool
			}{
				{list(1, depth, 0), true}, {list(1, depth, 1), true}, {list(0, depth+1, 0), true}, {list(1, depth+1, 0), false},
			} {
				ok(q.Wait(ctx))
				ok(q.Notify(s.At(1, 0), n))
				tries := 0
				err := q.Post(ctx, func() error {
					if tries++; tries > 2 {
						return errors.New("tried for ever")
					}
					return call(c.list)
				})
				if c.fits && err != nil || !c.fits && (!errors.Is(err, gaspi.ErrTooLarge) || q.Size() != 0) {
					t.Errorf("%s of %d entries: %v after %d tries, fits: %t", name, len(c.list), err, tries, c.fits)
				}
			}
		}
		ok(q.Wait(ctx))
	}, func(*gaspi.Segment) {})
}

// TestPostWaitsForRoom posts more than a queue holds. An error other than a full queue ends Post.
func TestPostWaitsForRoom(t *testing.T) {
	const depth, posts = 3, 20
	pair(t, depth, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		q, src := p.MustQueue(0), must(s.Span(0, 8))
		for i := range posts {
			id := gaspi.NotificationID(i % 10)
			ok(q.Post(ctx, func() error {
				return q.WriteNotify(s.At(1, 0), src, gaspi.Notification{ID: id, Value: 1, Add: true})
			}))
		}
		calls, other := 0, errors.New("other")
		if err := q.Post(ctx, func() error { calls++; return other }); err != other || calls != 1 {
			t.Errorf("%v after %d calls, want that of the only one", err, calls)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		for err := error(nil); err == nil && calls < 100; calls++ { // which may find the queue idle
			err = q.Post(ended, func() error { return q.Notify(s.At(1, 0), gaspi.Notification{ID: 11, Value: 1}) })
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		ok(q.Wait(ctx))
		if n := q.Size(); n != 0 {
			t.Errorf("%d entries are taken", n)
		}
	}, func(s *gaspi.Segment) {
		for i := range 10 {
			if v := s.Peek(gaspi.NotificationID(i)); v != posts/10 {
				t.Errorf("notification %d was posted %d times, want %d", i, v, posts/10)
			}
		}
	})
}

func TestGASPIDifference7SelfAndZeroSizeTakeNoEntry(t *testing.T) {
	pair(t, 4, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		q, none, n := p.MustQueue(0), must(s.Span(3, 0)), gaspi.Notification{ID: 2, Value: 7}
		a, b := must(s.Span(0, 8)), must(s.Span(8, 8))
		copy(a.Bytes(), "to self!")
		for range 10 { // more than the depth
			ok(q.Write(s.At(1, 0), none))
			ok(q.Read(none, s.At(1, 0)))
			ok(q.Write(s.At(0, 8), a))
			ok(q.Read(b, s.At(0, 0)))
			ok(q.WriteNotify(s.At(0, 16), a, n))
			ok(q.ReadNotify(b, s.At(0, 0), n))
			ok(q.Notify(s.At(0, 0), n))
			ok(q.WriteList(nil))
			ok(q.ReadList(nil))
			ok(q.WriteList([]gaspi.Transfer{{Local: none, Remote: s.At(1, 0)}}))
			ok(q.WriteListNotify([]gaspi.Transfer{{Local: a, Remote: s.At(0, 24)}}, s.At(0, 0), n))
		}
		if q.Size() != 0 {
			t.Errorf("%d entries taken", q.Size())
		}
		if got := string(s.Bytes()[:32]); got != "to self!to self!to self!to self!" {
			t.Errorf("own memory holds %q", got)
		}
		if v := must(s.Reset(2)); v != 7 {
			t.Errorf("own notification %d, want 7", v)
		}
		// Without data there is still a notification.
		ok(q.WriteNotify(s.At(1, 0), none, n))
		ok(q.WriteNotify(s.At(1, 0), gaspi.Span{}, gaspi.Notification{ID: 3, Value: 8}))
		ok(q.WriteListNotify(nil, s.At(1, 0), gaspi.Notification{ID: 4, Value: 9}))
		ok(q.ReadNotify(none, s.At(1, 0), gaspi.Notification{ID: 5, Value: 10}))
		if v := must(s.Reset(5)); v != 10 {
			t.Errorf("notification of a read of nothing: %d, want 10", v)
		}
		ok(q.Wait(ctx))
	}, func(s *gaspi.Segment) {
		for id, want := range map[gaspi.NotificationID]gaspi.Value{2: 7, 3: 8, 4: 9} {
			if v := must(s.Reset(id)); v != want {
				t.Errorf("notification %d: %d, want %d", id, v, want)
			}
		}
		if !bytes.Equal(s.Bytes(), make([]byte, 64)) {
			t.Errorf("rank 1 holds %v", s.Bytes())
		}
	})
}

// GPI-2 as released writes past the end of the remote segment.
func TestGASPIErrInvLocOffPastTheEnd(t *testing.T) {
	const top = math.MaxUint64
	pair(t, 1000, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		src, q, n := must(s.Span(0, 8)), p.MustQueue(0), gaspi.Notification{ID: 1, Value: 1}
		copy(src.Bytes(), "trespass")
		for _, offset := range []uint64{60, 57, 64, 65, top, top - 7, top - 3, 1 << 63} {
			to := s.At(1, offset)
			fine := gaspi.Transfer{Local: src, Remote: s.At(1, 0)}
			list := []gaspi.Transfer{fine, {Local: src, Remote: to}, fine}
			for name, err := range map[string]error{
				"write":             q.Write(to, src),
				"write_notify":      q.WriteNotify(to, src, n),
				"read":              q.Read(src, to),
				"read_notify":       q.ReadNotify(src, to, n),
				"write_list":        q.WriteList(list),
				"write_list_notify": q.WriteListNotify(list, s.At(1, 0), n),
				"read_list":         q.ReadList(list),
				"read_list_notify":  q.ReadListNotify(list, s, n),
			} {
				if !errors.Is(err, gaspi.ErrOutOfRange) {
					t.Errorf("%s at %d: got %v, want ErrOutOfRange", name, offset, err)
				}
			}
			word := max(offset&^7, 64)
			if _, err := p.FetchAdd(ctx, s.At(1, word), 1); !errors.Is(err, gaspi.ErrOutOfRange) {
				t.Errorf("fetch_add at %d: got %v, want ErrOutOfRange", word, err)
			}
		}
		if v := s.Peek(1); v != 0 {
			t.Errorf("a read that was refused has notified: %d", v)
		}
		if string(src.Bytes()) != "trespass" {
			t.Errorf("a read that was refused has filled its destination: %q", src.Bytes())
		}
		if !healthy(p) {
			t.Errorf("state %v after errors of this rank alone", p.State())
		}
		ok(q.Write(s.At(1, 56), must(s.Span(8, 8)))) // up to the last byte is fine
		ok(q.Flush(ctx, 1))
	}, func(s *gaspi.Segment) {
		if !bytes.Equal(s.Bytes(), make([]byte, 64)) || s.Peek(1) != 0 {
			t.Errorf("rank 1 holds %v, notification %d", s.Bytes(), s.Peek(1))
		}
	})
}

func TestGASPIErrorNamesWhatIsWrong(t *testing.T) {
	pair(t, 1000, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		q, src := p.MustQueue(0), must(s.Span(0, 8))
		private := must(p.AllocSegment(3, 64)) // registered with nobody
		gone := must(p.AllocSegment(4, 64))
		fromGone := must(gone.Span(0, 8))
		ok(gone.Delete())
		elsewhere := func(r gaspi.Rank, id gaspi.SegmentID) gaspi.Remote { return gaspi.Remote{Rank: r, Segment: id} }
		one := gaspi.Notification{ID: 1, Value: 1}
		for _, c := range []struct {
			name string
			err  error
			want error
		}{
			{"rank beyond the last", q.Write(s.At(2, 0), src), gaspi.ErrBadRank},
			{"negative rank", q.Write(s.At(-1, 0), src), gaspi.ErrBadRank},
			{"segment that rank 1 has not", q.Write(elsewhere(1, 5), src), gaspi.ErrNoSegment},
			{"segment beyond the last", q.Write(elsewhere(1, 5000), src), gaspi.ErrNoSegment},
			{"own segment without registration", q.Write(private.At(0, 0), src), gaspi.ErrNoSegment},
			{"source in a deleted segment", q.Write(s.At(1, 0), fromGone), gaspi.ErrClosed},
			{"notification 0 value", q.Notify(s.At(1, 0), gaspi.Notification{ID: 1}), gaspi.ErrZeroValue},
			{"notification beyond the last", q.Notify(s.At(1, 0), gaspi.Notification{ID: 64, Value: 1}), gaspi.ErrNoNotification},
			{"write_notify, value 0", q.WriteNotify(s.At(1, 0), src, gaspi.Notification{ID: 1}), gaspi.ErrZeroValue},
			{"write_notify, beyond the last", q.WriteNotify(s.At(1, 0), src, gaspi.Notification{ID: 64, Value: 1}), gaspi.ErrNoNotification},
			{"read_notify, value 0", q.ReadNotify(src, s.At(1, 0), gaspi.Notification{ID: 1}), gaspi.ErrZeroValue},
			{"read_notify without a segment", q.ReadNotify(gaspi.Span{}, s.At(1, 0), one), gaspi.ErrNoSegment},
			{"list with two ranks", q.WriteList([]gaspi.Transfer{{Local: src, Remote: s.At(1, 0)}, {Local: src, Remote: s.At(0, 0)}}), gaspi.ErrBadRank},
			{"list notification elsewhere", q.WriteListNotify([]gaspi.Transfer{{Local: src, Remote: s.At(1, 0)}}, s.At(0, 0), one), gaspi.ErrBadRank},
			{"list notification 0", q.WriteListNotify([]gaspi.Transfer{{Local: src, Remote: s.At(1, 0)}}, s.At(1, 0), gaspi.Notification{ID: 1}), gaspi.ErrZeroValue},
			{"list too long", q.WriteList(make([]gaspi.Transfer, 256)), gaspi.ErrTooLarge},
		} {
			var where *gaspi.OpError
			if !errors.Is(c.err, c.want) || !errors.As(c.err, &where) || where.Op == "" {
				t.Errorf("%s: got %v, want an OpError for %v", c.name, c.err, c.want)
			}
		}
		ok(q.Wait(ctx))
	}, func(s *gaspi.Segment) {
		if !bytes.Equal(s.Bytes(), make([]byte, 64)) || s.Peek(1) != 0 {
			t.Errorf("what was refused had an effect: %v, notification %d", s.Bytes(), s.Peek(1))
		}
	})
}

func TestGASPITransferSizeMax(t *testing.T) {
	cfg := small
	cfg.TransferMax = 16
	err := gaspi.Local(t.Context(), 1, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		ok(p.MustQueue(0).Write(s.At(0, 32), must(s.Span(0, 16))))
		if err := p.MustQueue(0).Write(s.At(0, 32), must(s.Span(0, 17))); !errors.Is(err, gaspi.ErrTooLarge) {
			return fmt.Errorf("17 bytes: %v, want ErrTooLarge", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestGASPIQueueCreateAndDelete(t *testing.T) {
	cfg := small
	cfg.Queues, cfg.QueuesMax, cfg.QueueDepth = 2, 3, 2
	err := gaspi.Local(t.Context(), 2, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 16))
		q := must(p.CreateQueue())
		if q.Number() != 2 || p.MustQueue(2) != q {
			t.Errorf("queue number %d, want 2", q.Number())
		}
		if _, err := p.CreateQueue(); !errors.Is(err, gaspi.ErrTooMany) {
			t.Errorf("a queue beyond QueuesMax: %v", err)
		}
		other := 1 - p.Rank()
		ok(q.Write(s.At(other, 8), must(s.Span(0, 8)))) // usable with every peer at once
		if err := q.Delete(); !errors.Is(err, gaspi.ErrInUse) {
			t.Errorf("delete with an entry: %v", err)
		}
		ok(q.Wait(ctx))
		ok(q.Delete())
		for name, err := range map[string]error{
			"write": q.Write(s.At(other, 8), must(s.Span(0, 8))), "wait": q.Wait(ctx),
			"flush": q.Flush(ctx, other), "delete": q.Delete(),
		} {
			if !errors.Is(err, gaspi.ErrClosed) {
				t.Errorf("%s on a deleted queue: %v", name, err)
			}
		}
		if _, err := p.Queue(2); err == nil {
			t.Error("a deleted queue is still found")
		}
		if got := must(p.CreateQueue()).Number(); got != 2 {
			t.Errorf("the next queue has number %d, want the free 2", got)
		}
		return p.Barrier(ctx, p.World())
	})
	if err != nil {
		t.Error(err)
	}
}

func TestGASPIQueueSizeAndPurge(t *testing.T) {
	pair(t, 2, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		q := p.MustQueue(0)
		for range 2 {
			ok(q.Write(s.At(1, 0), must(s.Span(0, 8))))
		}
		q.Purge()
		if q.Size() != 0 {
			t.Errorf("size %d after a purge", q.Size())
		}
		ok(q.Write(s.At(1, 0), must(s.Span(0, 8))))
	}, func(*gaspi.Segment) {})
}

func TestGASPIStatisticCounterGetAndReset(t *testing.T) {
	pair(t, 100, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		p.ResetStats()
		q, src, n := p.MustQueue(0), must(s.Span(0, 8)), gaspi.Notification{ID: 1, Value: 1}
		ok(q.Write(s.At(1, 0), src))
		ok(q.WriteNotify(s.At(1, 0), src, n))
		ok(q.WriteList([]gaspi.Transfer{{Local: src, Remote: s.At(1, 8)}, {Local: src, Remote: s.At(1, 16)}}))
		ok(p.MustQueue(1).Read(src, s.At(1, 0)))
		ok(q.Notify(s.At(1, 0), n))
		_ = q.Write(s.At(7, 0), src) // refused, so not counted
		must(p.FetchAdd(ctx, s.At(1, 0), 1))
		ok(q.Wait(ctx))
		want := gaspi.Stats{Writes: 4, BytesWritten: 32, Reads: 1, BytesRead: 8, Notifies: 1, Atomics: 1, QueueWaits: 1}
		if d := cmp.Diff(want, p.Stats()); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		p.ResetStats()
		if d := cmp.Diff(gaspi.Stats{}, p.Stats()); d != "" {
			t.Errorf("after a reset (-want +got):\n%s", d)
		}
	}, func(*gaspi.Segment) {})
}
