package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// endings are what ranks 1 and 2 wait for, made by the first of a bubble to ask.
func endings() func() []chan struct{} {
	return sync.OnceValue(func() []chan struct{} { return []chan struct{}{1: make(chan struct{}), 2: make(chan struct{})} })
}

// orderOfLosses runs find at rank 0 of four, as a call that finds rank 1 gone before anybody
// tells of an end. When it blocks or has ended, rank 2 ends and then rank 1. Its error, if there
// is one, is to name rank want, and so is the first failure in the end.
func orderOfLosses(t *testing.T, want gaspi.Rank, find func(ctx context.Context, p *gaspi.Proc) error) {
	t.Helper()
	end := endings()
	mortals(t, 4, func(ctx context.Context, p *gaspi.Proc) error {
		switch p.Rank() {
		case 1, 2:
			<-end()[p.Rank()]
			return errDies
		case 3:
			return nil
		}
		found := make(chan error, 1)
		go func() { found <- find(ctx, p) }()
		synctest.Wait()
		for _, r := range []gaspi.Rank{2, 1} {
			close(end()[r])
			synctest.Wait()
		}
		if err := <-found; err != nil && !names(err, want) {
			return fmt.Errorf("the call ended with %v, want an error that names rank %d", err, want)
		}
		if first := p.FirstFailure([]gaspi.Rank{1, 2}); first == nil || first.Rank != want {
			return fmt.Errorf("the first failure is %v, want that of rank %d", first, want)
		}
		return nil
	})
}

// A rank that is found gone may have ended because of another one, of whose end nobody has told
// yet.
func TestErrorsNameTheFirstThatEnded(t *testing.T) {
	t.Run("collective operation", func(t *testing.T) {
		orderOfLosses(t, 2, func(ctx context.Context, p *gaspi.Proc) error { return p.World().FindGone(ctx, 1) })
	})
	t.Run("other operation", func(t *testing.T) {
		orderOfLosses(t, 2, func(_ context.Context, p *gaspi.Proc) error {
			if err := p.FindGone(1); !names(err, 1) || p.Health(1) != gaspi.Corrupt {
				t.Errorf("%v, and rank 1 is %v", err, p.Health(1))
			}
			return nil
		})
	})
}

// A collective operation that finds a rank gone of whose end nobody tells ends all the same,
// and goes on when its context ends first. That rank then counts as the first, also when its end
// is told after that of another one.
func TestVerdictWithoutNews(t *testing.T) {
	end := endings()
	mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() > 0 {
			<-end()[p.Rank()]
			return errDies
		}
		if err := p.World().FindGone(ended(), 1); !errors.Is(err, context.Canceled) || p.Health(1) != gaspi.Healthy {
			return fmt.Errorf("%v, rank 1 is %v; want the end of the context and no conclusion", err, p.Health(1))
		}
		if err := p.World().FindGone(ctx, 1); !names(err, 1) || p.Health(1) != gaspi.Corrupt {
			return fmt.Errorf("%v, rank 1 is %v; want an error that names it", err, p.Health(1))
		}
		quiet(ctx) // nobody has told of its end in time
		for _, r := range []gaspi.Rank{2, 1} {
			close(end()[r])
			synctest.Wait()
		}
		if first := p.FirstFailure([]gaspi.Rank{1, 2}); first == nil || first.Rank != 1 {
			return fmt.Errorf("the first failure is %v, want that of rank 1", first)
		}
		return nil
	})
}

// A rank that is revoked together with others often ends because of a rank that is in none of the
// groups that it shares with this one.
func TestErrorsNameTheFirstLossAround(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(ctx context.Context, p *gaspi.Proc, pair *gaspi.Group) *gaspi.Segment // at ranks 0 and 1
		find func(ctx context.Context, p *gaspi.Proc, pair *gaspi.Group, s *gaspi.Segment) error
	}{
		{"commit", nil, func(ctx context.Context, p *gaspi.Proc, pair *gaspi.Group, _ *gaspi.Segment) error {
			return pair.Commit(ctx)
		}},
		{"barrier", func(ctx context.Context, p *gaspi.Proc, pair *gaspi.Group) *gaspi.Segment {
			ok(pair.Commit(ctx))
			return nil
		}, func(ctx context.Context, p *gaspi.Proc, pair *gaspi.Group, _ *gaspi.Segment) error {
			return p.Barrier(ctx, pair)
		}},
		{"creation of a segment", func(ctx context.Context, p *gaspi.Proc, pair *gaspi.Group) *gaspi.Segment {
			ok(pair.Commit(ctx))
			return nil
		}, func(ctx context.Context, p *gaspi.Proc, pair *gaspi.Group, _ *gaspi.Segment) error {
			_, err := p.CreateSegment(ctx, 3, 64, gaspi.Over(pair))
			return err
		}},
		{"notification", func(ctx context.Context, p *gaspi.Proc, pair *gaspi.Group) *gaspi.Segment {
			ok(pair.Commit(ctx))
			return must(p.CreateSegment(ctx, 3, 64, gaspi.Over(pair)))
		}, func(ctx context.Context, p *gaspi.Proc, pair *gaspi.Group, s *gaspi.Segment) error {
			_, err := s.WaitSome(ctx, 0, 1)
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			end := endings()
			mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
				all := must(p.World().Dup(ctx, 0))
				if p.Rank() == 2 {
					<-end()[2]
					return errDies
				}
				pair := must(p.NewGroup(0, 1))
				ok(pair.RevokeWith(all))
				var s *gaspi.Segment
				if c.make != nil {
					s = c.make(ctx, p, pair)
				}
				if p.Rank() == 1 {
					<-end()[1]
					return errDies
				}
				found := make(chan error, 1)
				go func() { found <- c.find(ctx, p, pair, s) }()
				synctest.Wait()
				for _, r := range []gaspi.Rank{2, 1} {
					close(end()[r])
					synctest.Wait()
				}
				if err := <-found; !names(err, 2) {
					return fmt.Errorf("the call ended with %v, want an error that names rank 2", err)
				}
				return nil
			})
		})
	}
}
