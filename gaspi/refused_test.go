package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// TestWarmWriteNotifyChecksWhatTheFirstDoes: the short path that WriteNotify takes to a
// segment that it has written to refuses what the long one refuses, with the same words,
// and nothing arrives.
func TestWarmWriteNotifyChecksWhatTheFirstDoes(t *testing.T) {
	one := gaspi.Notification{ID: 1, Value: 1}
	for _, c := range []struct {
		name string
		want error
		post func(p *gaspi.Proc, q *gaspi.Queue, s *gaspi.Segment) error
	}{
		{"more than TransferMax", gaspi.ErrTooLarge, func(_ *gaspi.Proc, q *gaspi.Queue, s *gaspi.Segment) error {
			return q.WriteNotify(s.At(1, 0), must(s.Span(0, 17)), one)
		}},
		{"past the end", gaspi.ErrOutOfRange, func(_ *gaspi.Proc, q *gaspi.Queue, s *gaspi.Segment) error {
			return q.WriteNotify(s.At(1, 57), must(s.Span(0, 8)), one)
		}},
		{"value 0", gaspi.ErrZeroValue, func(_ *gaspi.Proc, q *gaspi.Queue, s *gaspi.Segment) error {
			return q.WriteNotify(s.At(1, 0), must(s.Span(0, 8)), gaspi.Notification{ID: 1})
		}},
		{"no such notification", gaspi.ErrNoNotification, func(_ *gaspi.Proc, q *gaspi.Queue, s *gaspi.Segment) error {
			return q.WriteNotify(s.At(1, 0), must(s.Span(0, 8)), gaspi.Notification{ID: 64, Value: 1})
		}},
		{"no such segment", gaspi.ErrNoSegment, func(_ *gaspi.Proc, q *gaspi.Queue, s *gaspi.Segment) error {
			return q.WriteNotify(gaspi.Remote{Rank: 1, Segment: 5}, must(s.Span(0, 8)), one)
		}},
		{"no such rank", gaspi.ErrBadRank, func(_ *gaspi.Proc, q *gaspi.Queue, s *gaspi.Segment) error {
			return q.WriteNotify(s.At(9, 0), must(s.Span(0, 8)), one) // 9 and 1 share a place in the queue's memory
		}},
		{"deleted source", gaspi.ErrClosed, func(p *gaspi.Proc, q *gaspi.Queue, s *gaspi.Segment) error {
			gone := must(p.AllocSegment(4, 64))
			src := must(gone.Span(0, 8))
			ok(gone.Delete())
			return q.WriteNotify(s.At(1, 0), src, one)
		}},
		{"deleted queue", gaspi.ErrClosed, func(_ *gaspi.Proc, q *gaspi.Queue, s *gaspi.Segment) error {
			ok(q.Wait(context.Background()))
			ok(q.Delete())
			return q.WriteNotify(s.At(1, 0), must(s.Span(0, 8)), one)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			said := map[bool]string{}
			for _, warm := range []bool{false, true} {
				cfg := small
				cfg.TransferMax = 16
				err := gaspi.Local(t.Context(), 2, cfg, func(ctx context.Context, p *gaspi.Proc) error {
					s := must(p.CreateSegment(ctx, 0, 64))
					q := must(p.CreateQueue())
					if p.Rank() == 0 {
						if warm {
							ok(q.WriteNotify(s.At(1, 32), must(s.Span(32, 16)), gaspi.Notification{ID: 2, Value: 1}))
						}
						err := c.post(p, q, s)
						if said[warm] = fmt.Sprint(err); !errors.Is(err, c.want) {
							t.Errorf("warm %v: %v, want %v", warm, err, c.want)
						}
					}
					ok(p.Barrier(ctx, p.World()))
					if p.Rank() == 1 && s.Peek(1) != 0 {
						t.Errorf("warm %v: what was refused has notified", warm)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
			if d := cmp.Diff(said[false], said[true]); d != "" {
				t.Errorf("the short path says it otherwise (-first +warm):\n%s", d)
			}
		})
	}
}

// TestStatsLeaveOutWhatWasRefused: an operation that took an entry and was refused then is
// not counted as a write, nor as anything else, with peers and with the own rank. Its error
// has the name of the call.
func TestStatsLeaveOutWhatWasRefused(t *testing.T) {
	one, zero := gaspi.Notification{ID: 1, Value: 1}, gaspi.Notification{ID: 1}
	for _, to := range []gaspi.Rank{0, 1} {
		pair(t, 1000, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
			q, src, past := p.MustQueue(0), must(s.Span(0, 8)), s.At(to, 60)
			for name, post := range map[string]func() error{
				"write":                             func() error { return q.Write(past, src) },
				"write_notify":                      func() error { return q.WriteNotify(past, src, one) },
				"write_notify, flag":                func() error { return q.WriteNotify(s.At(to, 0), src, zero) },
				"write_notify in":                   func() error { return q.WriteNotifyIn(s.At(to, 0), src, 3, one) },
				"write_notify_line":                 func() error { return q.WriteNotifyLine(s.At(to, 64), src, one) },
				"write_notify_line, flag":           func() error { return q.WriteNotifyLine(s.At(to, 0), src, zero) },
				"notify":                            func() error { return q.Notify(s.At(to, 0), zero) },
				"read":                              func() error { return q.Read(src, past) },
				"read_notify":                       func() error { return q.ReadNotify(src, past, one) },
				"write of a rank that is not there": func() error { return q.Write(s.At(7, 0), src) },
			} {
				ok(q.Write(s.At(to, 0), src)) // so that a wrong count shows as one more
				p.ResetStats()
				call, _, _ := strings.Cut(strings.ReplaceAll(name, ",", " "), " ")
				if err := post(); err == nil || !strings.HasPrefix(err.Error(), "gaspi: "+call+" ") {
					t.Errorf("%s to rank %d: %v, want an error of %s", name, to, err, call)
				}
				if d := cmp.Diff(gaspi.Stats{}, p.Stats()); d != "" {
					t.Errorf("%s to rank %d (-want +got):\n%s", name, to, d)
				}
				ok(q.Wait(ctx))
			}
		}, func(*gaspi.Segment) {})
	}
}
