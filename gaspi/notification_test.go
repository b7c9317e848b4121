package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/google/go-cmp/cmp"
)

// GPI-2 hands out half of the values twice under writers like these.
//
// Two goroutines of rank 0 post to a slot and at once take what is there, while
// rank 1 posts to it too. No value may be handed out twice.
func TestGASPINotifyResetHandsOutEachValueOnce(t *testing.T) {
	const posts = 100_000
	var taken [2][]gaspi.Value
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		post := func(q *gaspi.Queue, source, i int) {
			err := q.Notify(s.At(0, 0), gaspi.Notification{ID: 0, Value: gaspi.Value(3*i + source + 1)})
			if err == gaspi.ErrQueueFull {
				err = q.Wait(ctx)
			}
			if err != nil {
				t.Error(err)
			}
		}
		if p.Rank() == 1 {
			for i := range posts {
				post(p.MustQueue(0), 2, i)
			}
			return p.Barrier(ctx, p.World())
		}
		var wg sync.WaitGroup
		for w := range taken {
			wg.Go(func() {
				for i := range posts {
					post(p.MustQueue(w), w, i)
					for range 3 {
						if v, err := s.Reset(0); err != nil {
							t.Error(err)
						} else if v != 0 {
							taken[w] = append(taken[w], v)
						}
					}
				}
			})
		}
		wg.Wait()
		return p.Barrier(ctx, p.World())
	})
	seen := make([]bool, 3*posts+1)
	for w := range taken {
		for _, v := range taken[w] {
			if seen[v] {
				t.Fatalf("value %d was handed out twice", v)
			}
			seen[v] = true
		}
	}
	if len(taken[0])+len(taken[1]) == 0 {
		t.Error("nothing was handed out")
	}
}

// Programs poll with Reset alone, so it must show the data that came before the
// value, as a wait does.
func TestResetAloneShowsTheData(t *testing.T) {
	rounds := uint64(2000)
	if testing.Short() {
		rounds = 500 // the race detector watches each
	}
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 128))
		words := must(gaspi.View[uint64](s, 0, 16))
		q, other := p.MustQueue(0), 1-p.Rank()
		for round := uint64(1); round <= rounds; round++ {
			for i := range words[:8] {
				words[i] = round*100 + uint64(i)
			}
			ok(q.WriteNotify(s.At(other, 64), must(s.Span(0, 64)), gaspi.Notification{ID: 5, Value: gaspi.Value(round)}))
			for {
				v, err := s.Reset(5)
				ok(err)
				if v == gaspi.Value(round) {
					break
				}
			}
			for i, w := range words[8:] {
				if w != round*100+uint64(i) {
					return fmt.Errorf("round %d: word %d is %d", round, i, w)
				}
			}
			ok(q.Wait(ctx))
			ok(p.Barrier(ctx, p.World())) // what was read may be overwritten
		}
		return nil
	})
}

// A conforming GPI-2 does the same; users who want a counter use Add.
func TestSlotKeepsLastValue(t *testing.T) {
	pair(t, 100, func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) {
		for v := range gaspi.Value(3) {
			ok(p.MustQueue(0).Notify(s.At(1, 0), gaspi.Notification{ID: 4, Value: v + 10}))
			ok(p.MustQueue(0).WriteNotify(s.At(1, 0), must(s.Span(0, 8)), gaspi.Notification{ID: 5, Value: v + 20, Add: true}))
		}
	}, func(s *gaspi.Segment) {
		for id, want := range map[gaspi.NotificationID]gaspi.Value{4: 12, 5: 63} {
			if v := s.Peek(id); v != want {
				t.Errorf("a look at %d: %d, want %d", id, v, want)
			}
			if v := must(s.Reset(id)); v != want {
				t.Errorf("reset of %d: %d, want %d", id, v, want)
			}
			if v := must(s.Reset(id)); v != 0 {
				t.Errorf("a second reset of %d: %d, want 0", id, v)
			}
		}
	})
}

func TestAddsAreNeverLost(t *testing.T) {
	const n, each = 5, 1000
	ranktest.Local(t, n, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		if p.Rank() > 0 {
			for range each {
				if err := p.MustQueue(0).Notify(s.At(0, 0), gaspi.Notification{ID: 1, Value: 1, Add: true}); err == gaspi.ErrQueueFull {
					ok(p.MustQueue(0).Wait(ctx))
					ok(p.MustQueue(0).Notify(s.At(0, 0), gaspi.Notification{ID: 1, Value: 1, Add: true}))
				}
			}
			return p.Barrier(ctx, p.World())
		}
		sum := 0
		for sum < (n-1)*each {
			must(s.WaitSome(ctx, 0, 4))
			sum += int(must(s.Reset(1)))
		}
		ok(p.Barrier(ctx, p.World()))
		if rest := must(s.Reset(1)); sum != (n-1)*each || rest != 0 {
			return fmt.Errorf("counted %d and %d, want %d", sum, rest, (n-1)*each)
		}
		return nil
	})
}

func TestWaitSomeOfNothing(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		for _, first := range []gaspi.NotificationID{0, 17, 64} {
			if _, err := s.WaitSome(ctx, first, 0); err != nil {
				return fmt.Errorf("none of %d on: %v, want success at once", first, err)
			}
			if _, found, err := s.TrySome(first, 0); err != nil || !found {
				return fmt.Errorf("try none of %d on: %v, %v", first, found, err)
			}
		}
		return nil
	})
}

func TestGASPINotifyWaitsomeNeitherResetsNorStarves(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		for id := range gaspi.NotificationID(8) {
			tell(p, s, 0, id)
		}
		var got, want []gaspi.NotificationID
		for i := range 16 {
			got = append(got, must(s.WaitSome(ctx, 2, 4)))
			want = append(want, gaspi.NotificationID(2+i%4))
		}
		if d := cmp.Diff(want, got); d != "" {
			return fmt.Errorf("ids (-want +got):\n%s", d)
		}
		return nil
	})
}

// After a wait that ran out of time nothing is lost, and nobody is corrupt.
func TestGASPITimeoutLetsWaitsGoOn(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		if p.Rank() == 1 {
			await(ctx, s, 9)
			for _, id := range []gaspi.NotificationID{0, 1, 2} {
				tell(p, s, 0, id)
			}
			return p.Barrier(ctx, p.World())
		}
		waits := map[string]func(ctx context.Context) error{
			"some":  func(ctx context.Context) error { _, err := s.WaitSome(ctx, 0, 1); return err },
			"all":   func(ctx context.Context) error { return s.WaitAll(ctx, 0, 3) },
			"until": func(ctx context.Context) error { return s.WaitUntil(ctx, 2, gaspi.Equal, 1) },
		}
		for name, wait := range waits {
			limited, cancel := soon(ctx)
			if err := wait(limited); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("wait for %s: %v, want the deadline", name, err)
			}
			cancel()
			if err := wait(ended()); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("test for %s: %v, want the end of the context", name, err)
			}
		}
		if !healthy(p) {
			return fmt.Errorf("state %v after time limits", p.State())
		}
		tell(p, s, 1, 9)
		for name, wait := range waits {
			if err := wait(ctx); err != nil {
				return fmt.Errorf("wait for %s afterwards: %v", name, err)
			}
			if err := wait(ended()); err != nil {
				return fmt.Errorf("test for %s, which is there: %v", name, err)
			}
		}
		return p.Barrier(ctx, p.World())
	})
}

func TestGASPITestIsATryForm(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		want := func(name string, yes, got bool, err error) {
			if err != nil || got != yes {
				t.Errorf("%s: %v, %v; want %v", name, got, err, yes)
			}
		}
		look := func(some, all, until bool) {
			_, got, err := s.TrySome(0, 2)
			want("some", some, got, err)
			got, err = s.TryAll(0, 2)
			want("all", all, got, err)
			got, err = s.TryUntil(1, gaspi.AtLeast, 5)
			want("until", until, got, err)
		}
		post := func(id gaspi.NotificationID, v gaspi.Value) {
			ok(p.MustQueue(0).Notify(s.At(0, 0), gaspi.Notification{ID: id, Value: v}))
		}
		look(false, false, false)
		post(1, 4)
		look(true, false, false)
		post(0, 1)
		look(true, true, false)
		post(1, 6)
		look(true, true, true)
		for name, err := range map[string]error{
			"some":  func() error { _, _, err := s.TrySome(60, 5); return err }(),
			"all":   func() error { _, err := s.TryAll(math.MaxUint32, 2); return err }(),
			"until": func() error { _, err := s.TryUntil(64, gaspi.Equal, 1); return err }(),
			"wait":  func() error { _, err := s.WaitSome(ctx, 0, 65); return err }(),
			"reset": func() error { _, err := s.Reset(64); return err }(),
		} {
			if !errors.Is(err, gaspi.ErrNoNotification) {
				t.Errorf("%s over the end: %v, want ErrNoNotification", name, err)
			}
		}
		return nil
	})
}
