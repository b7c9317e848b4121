package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// refuses returns an error unless err is ErrClosed with the place.
func refuses(op string) func(err error) error {
	return func(err error) error {
		var place *gaspi.OpError
		if !errors.Is(err, gaspi.ErrClosed) || !errors.As(err, &place) || place.Op != op || !strings.Contains(err.Error(), "segment 3") {
			return fmt.Errorf("%v; want closed, in %s of segment 3", err, op)
		}
		return nil
	}
}

// wants returns an error unless a method without an error returns what it promises.
func wants(got, want any) error {
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%v; want %v", got, want)
	}
	return nil
}

func second[A, B any](_ A, b B) B        { return b }
func third[A, B, C any](_ A, _ B, c C) C { return c }

// afterDelete is what each method of a segment does once it is deleted. The segment has
// id 3, 64 bytes and 16 notifications, of which 0 and 5 were set; mem was its memory.
var afterDelete = map[string]func(ctx context.Context, s *gaspi.Segment, mem []byte) error{
	"ID":            func(_ context.Context, s *gaspi.Segment, _ []byte) error { return wants(s.ID(), gaspi.SegmentID(3)) },
	"Size":          func(_ context.Context, s *gaspi.Segment, _ []byte) error { return wants(s.Size(), uint64(64)) },
	"Notifications": func(_ context.Context, s *gaspi.Segment, _ []byte) error { return wants(s.Notifications(), uint32(16)) },
	"At": func(_ context.Context, s *gaspi.Segment, _ []byte) error {
		return wants(s.At(0, 8), gaspi.Remote{Rank: 0, Segment: 3, Offset: 8})
	},
	"Bytes": func(_ context.Context, s *gaspi.Segment, _ []byte) error {
		return wants(uint64(len(s.Bytes())), s.Size())
	},
	"Mapped": func(_ context.Context, s *gaspi.Segment, _ []byte) error {
		return wants(second(s.Mapped(0, 0, 8)), false)
	},
	"OffsetOf": func(_ context.Context, s *gaspi.Segment, mem []byte) error {
		return wants(second(s.OffsetOf(mem)), false)
	},
	"PollLine": func(_ context.Context, s *gaspi.Segment, _ []byte) error {
		return wants(s.PollLine(0, 0), false)
	},
	"Peek": func(_ context.Context, s *gaspi.Segment, _ []byte) error { return wants(s.Peek(5), gaspi.Value(0)) },
	"Span": func(_ context.Context, s *gaspi.Segment, _ []byte) error {
		return errors.Join(refuses("span")(second(s.Span(0, 8))), refuses("span")(second(s.Span(0, 0))))
	},
	"Register": func(_ context.Context, s *gaspi.Segment, _ []byte) error {
		return refuses("segment_register")(s.Register(0))
	},
	"Delete": func(_ context.Context, s *gaspi.Segment, _ []byte) error {
		return refuses("segment_delete")(s.Delete())
	},
	"Reset": func(_ context.Context, s *gaspi.Segment, _ []byte) error {
		return errors.Join(refuses("notify_reset")(second(s.Reset(0))), refuses("notify_reset")(second(s.Reset(5))))
	},
	"TrySome": func(_ context.Context, s *gaspi.Segment, _ []byte) error {
		refused := refuses("notify_trysome")
		return errors.Join(refused(third(s.TrySome(0, 16))), refused(third(s.TrySome(5, 1))), refused(third(s.TrySome(0, 0))))
	},
	"TryAll": func(_ context.Context, s *gaspi.Segment, _ []byte) error {
		return errors.Join(refuses("notify_tryall")(second(s.TryAll(5, 1))), refuses("notify_tryall")(second(s.TryAll(0, 0))))
	},
	"TryUntil": func(_ context.Context, s *gaspi.Segment, _ []byte) error {
		return refuses("notify_tryuntil")(second(s.TryUntil(5, gaspi.Equal, 7)))
	},
	"WaitSome": func(ctx context.Context, s *gaspi.Segment, _ []byte) error {
		refused := refuses("notify_waitsome")
		return errors.Join(refused(second(s.WaitSome(ctx, 0, 16))), refused(second(s.WaitSome(ctx, 5, 1))), refused(second(s.WaitSome(ctx, 0, 0))))
	},
	"WaitAll": func(ctx context.Context, s *gaspi.Segment, _ []byte) error {
		return errors.Join(refuses("notify_waitall")(s.WaitAll(ctx, 5, 1)), refuses("notify_waitall")(s.WaitAll(ctx, 0, 0)))
	},
	"WaitUntil": func(ctx context.Context, s *gaspi.Segment, _ []byte) error {
		return refuses("notify_waituntil")(s.WaitUntil(ctx, 5, gaspi.Equal, 7))
	},
	"WaitFunc": func(ctx context.Context, s *gaspi.Segment, _ []byte) error {
		return refuses("notify_waitfunc")(s.WaitFunc(ctx, func() bool { return true }))
	},
	"WaitFunc through losses": func(ctx context.Context, s *gaspi.Segment, _ []byte) error {
		return refuses("notify_waitfunc")(s.WaitFunc(ctx, func() bool { return true }, gaspi.ThroughLosses))
	},
	"WaitFunc asleep": func(ctx context.Context, s *gaspi.Segment, _ []byte) error {
		return refuses("notify_waitfunc")(s.WaitFunc(ctx, func() bool { return true }, gaspi.ThroughLosses|gaspi.Asleep))
	},
}

// TestGASPISegmentDelete calls every method of a deleted segment, in each of the ways in
// which a segment comes about, and what else takes one. A method without a line in
// afterDelete fails.
func TestGASPISegmentDelete(t *testing.T) {
	methods := reflect.TypeFor[*gaspi.Segment]()
	for i := range methods.NumMethod() {
		if name := methods.Method(i).Name; afterDelete[name] == nil {
			t.Errorf("afterDelete does not say what Segment.%s does", name)
		}
	}
	notes := gaspi.WithNotifications(16)
	for name, create := range map[string]func(ctx context.Context, p *gaspi.Proc) (*gaspi.Segment, error){
		"create": func(ctx context.Context, p *gaspi.Proc) (*gaspi.Segment, error) {
			return p.CreateSegment(ctx, 3, 64, notes)
		},
		"use": func(ctx context.Context, p *gaspi.Proc) (*gaspi.Segment, error) {
			return p.UseSegment(ctx, 3, make([]byte, 64), notes)
		},
		"alloc": func(_ context.Context, p *gaspi.Proc) (*gaspi.Segment, error) { return p.AllocSegment(3, 64, notes) },
		"bind": func(_ context.Context, p *gaspi.Proc) (*gaspi.Segment, error) {
			return p.BindSegment(3, make([]byte, 64), notes)
		},
	} {
		for _, transport := range []string{"loopback", "shm", "tcp"} {
			t.Run(name+" over "+transport, func(t *testing.T) {
				local1(t, transport, func(ctx context.Context, p *gaspi.Proc) error {
					s := must(create(ctx, p))
					ok(s.Register(0))
					mem := s.Bytes()
					span := must(s.Span(0, 8))
					q := p.MustQueue(0)
					for _, id := range []gaspi.NotificationID{0, 5} {
						ok(q.Notify(s.At(0, 0), gaspi.Notification{ID: id, Value: 7}))
						ok(s.WaitAll(ctx, id, 1))
					}
					ok(s.Delete())
					checkDeleted(ctx, t, p, s, span, mem)
					again := must(create(ctx, p)) // under the same id, of which s sees nothing
					ok(again.Register(0))
					ok(q.Notify(again.At(0, 0), gaspi.Notification{ID: 5, Value: 7}))
					checkDeleted(ctx, t, p, s, span, mem)
					return again.Delete()
				})
			})
		}
	}
}

// local1 runs a job of one rank over a transport.
func local1(t *testing.T, transport string, main func(ctx context.Context, p *gaspi.Proc) error) {
	t.Helper()
	if transport == "loopback" {
		ranktest.Local(t, 1, small, main)
		return
	}
	cfg := small
	cfg.Transport = transport
	p, err := gaspi.Init(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := main(t.Context(), p); err != nil {
		t.Error(err)
	}
}

// checkDeleted calls everything that takes a segment.
func checkDeleted(ctx context.Context, t *testing.T, p *gaspi.Proc, s *gaspi.Segment, span gaspi.Span, mem []byte) {
	for name, check := range afterDelete {
		if err := check(ctx, s, mem); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := refuses("view")(second(gaspi.View[int64](s, 0, 1))); err != nil {
		t.Errorf("View: %v", err)
	}
	q, at, n := p.MustQueue(0), gaspi.Remote{Rank: 0, Segment: 3}, gaspi.Notification{ID: 1, Value: 1}
	for name, err := range map[string]error{
		"write": q.Write(at, span), "write_notify": q.WriteNotify(at, span, n), "write_notify in another": q.WriteNotifyIn(at, span, 4, n),
		"write_notify_line": q.WriteNotifyLine(at, span, n),
		"read":              q.Read(span, at), "read_notify": q.ReadNotify(span, at, n),
		"write_list": q.WriteList([]gaspi.Transfer{{Local: span, Remote: at}}), "read_list": q.ReadList([]gaspi.Transfer{{Local: span, Remote: at}}),
		"read_list_notify": q.ReadListNotify(nil, s, n),
	} {
		if !errors.Is(err, gaspi.ErrClosed) {
			t.Errorf("%s with memory of the segment: %v, want closed", name, err)
		}
	}
}

// TestGASPINotificationNum has sentences for what no segment can have.
func TestGASPINotificationNum(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		for _, c := range []struct {
			n    uint32
			want string
		}{
			{0, "gaspi: segment_alloc segment 1: 0 notifications were asked for; a segment has 1 to 268435456"},
			{1<<28 + 1, "gaspi: segment_alloc segment 1: too large: 268435457 notifications were asked for; a segment has 1 to 268435456"},
			{1<<32 - 1, "gaspi: segment_alloc segment 1: too large: 4294967295 notifications were asked for; a segment has 1 to 268435456"},
		} {
			if _, err := p.AllocSegment(1, 8, gaspi.WithNotifications(c.n)); err == nil || err.Error() != c.want || errors.Is(err, gaspi.ErrOutOfRange) {
				t.Errorf("%d notifications: %v, want %s", c.n, err, c.want)
			}
		}
		s := must(p.AllocSegment(1, 8, gaspi.WithNotifications(1)))
		if s.Notifications() != 1 {
			t.Errorf("%d notifications, want 1", s.Notifications())
		}
		return nil
	})
}
