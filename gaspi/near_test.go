package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// postings are the operations of a queue that go through the window of the last one with a rank.
var postings = map[string]func(q *gaspi.Queue, at gaspi.Remote, local gaspi.Span, n gaspi.Notification) error{
	"Write":       func(q *gaspi.Queue, at gaspi.Remote, s gaspi.Span, _ gaspi.Notification) error { return q.Write(at, s) },
	"WriteNotify": (*gaspi.Queue).WriteNotify,
	"Notify": func(q *gaspi.Queue, at gaspi.Remote, _ gaspi.Span, n gaspi.Notification) error {
		return q.Notify(at, n)
	},
	"Read": func(q *gaspi.Queue, at gaspi.Remote, s gaspi.Span, _ gaspi.Notification) error { return q.Read(s, at) },
}

// TestLaterPostsAreCheckedLikeTheFirst compares what a queue returns that has a window on the peer's segment with
// what one returns that has none, for operations that may be refused, and counts those that are not.
func TestLaterPostsAreCheckedLikeTheFirst(t *testing.T) {
	for name, post := range postings {
		t.Run(name, func(t *testing.T) {
			ok(gaspi.Local(t.Context(), 2, small, func(ctx context.Context, p *gaspi.Proc) error {
				s := must(p.CreateSegment(ctx, 0, 64, gaspi.WithNotifications(4)))
				gone := must(p.CreateSegment(ctx, 1, 64, gaspi.WithNotifications(4)))
				ok(p.Barrier(ctx, p.World()))
				if p.Rank() == 1 {
					ok(gone.Delete())
				}
				ok(p.Barrier(ctx, p.World())) // the peer has no such segment from here on
				if p.Rank() == 0 {
					ok(laterPosts(p, s, gone, post))
				}
				return p.Barrier(ctx, p.World())
			}))
		})
	}
}

func laterPosts(p *gaspi.Proc, s, gone *gaspi.Segment, post func(*gaspi.Queue, gaspi.Remote, gaspi.Span, gaspi.Notification) error) error {
	good := gaspi.Notification{ID: 1, Value: 1}
	at, local, empty := s.At(1, 8), must(s.Span(0, 8)), must(s.Span(0, 0))
	lost := must(gone.Span(0, 8))
	used := must(p.CreateQueue())
	for range 3 {
		ok(post(used, at, local, good))
	}
	ok(gone.Delete())
	for i, c := range []struct {
		at    gaspi.Remote
		local gaspi.Span
		n     gaspi.Notification
	}{
		{s.At(1, 57), local, good}, {s.At(1, 1<<63), local, good}, {s.At(1, 64), empty, good}, {s.At(1, 65), empty, good},
		{at, local, gaspi.Notification{ID: 4, Value: 1}}, {at, local, gaspi.Notification{ID: 1}}, {at, local, gaspi.Notification{ID: 1, Value: 1, Add: true}},
		{gone.At(1, 8), local, good}, {at, lost, good}, {s.At(9, 8), local, good}, {s.At(-7, 8), local, good},
	} {
		fresh := must(p.CreateQueue())
		later, first := post(used, c.at, c.local, c.n), post(fresh, c.at, c.local, c.n)
		if fmt.Sprint(later) != fmt.Sprint(first) {
			return fmt.Errorf("case %d: %v; the first operation of a queue returns %v", i, later, first)
		}
		if used.Size()-3 != fresh.Size() && later != nil {
			return fmt.Errorf("case %d: a refused operation has an entry", i)
		}
		ok(fresh.Wait(context.Background()))
		ok(used.Wait(context.Background()))
		for range 3 {
			ok(post(used, at, local, good))
		}
		ok(fresh.Delete())
	}
	return fillsUp(p, used, func() error { return post(used, at, local, good) })
}

// TestQueuesRememberSegments: a queue finds the windows on several segments of several ranks that it writes to in turn, as
// collectives do whose notifications lie in another segment than their data.
func TestQueuesRememberSegments(t *testing.T) {
	const size, segments = 4, 4
	ok(gaspi.Local(t.Context(), size, small, func(ctx context.Context, p *gaspi.Proc) error {
		var all []gaspi.Remote
		var src gaspi.Span
		for id := range gaspi.SegmentID(segments) {
			s := must(p.CreateSegment(ctx, id, 64))
			src = must(s.Span(0, 8))
			for r := range gaspi.Rank(size) {
				all = append(all, s.At(r, 8+8*uint64(p.Rank()))) // nobody else writes there
			}
		}
		q := must(p.CreateQueue())
		for _, at := range all {
			ok(q.WriteNotify(at, src, gaspi.Notification{ID: 1, Value: 1}))
		}
		for _, at := range all {
			if !q.Remembers(at) {
				return fmt.Errorf("the way to %v is forgotten", at)
			}
		}
		ok(q.Wait(ctx))
		return p.Barrier(ctx, p.World())
	}))
}

// fillsUp posts to a queue until it is full and checks how often that is, and what was counted meanwhile.
func fillsUp(p *gaspi.Proc, q *gaspi.Queue, post func() error) error {
	before, posted, room := p.Stats(), 0, q.Depth()-q.Size()
	var err error
	for err = post(); err == nil; err = post() {
		posted++
	}
	after := p.Stats()
	counted := int(after.Writes - before.Writes + after.Reads - before.Reads + after.Notifies - before.Notifies)
	if !errors.Is(err, gaspi.ErrQueueFull) || posted != room || counted != posted || after.QueueFull-before.QueueFull != 1 {
		return fmt.Errorf("%v after %d posts where there was room for %d; %d were counted", err, posted, room, counted)
	}
	ok(q.Wait(context.Background()))
	ok(q.Delete())
	if err := post(); !errors.Is(err, gaspi.ErrClosed) {
		return fmt.Errorf("post to a queue that was deleted: %w", err)
	}
	return nil
}
