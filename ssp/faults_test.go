package ssp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/ssp"
)

var errOutOfLuck = errors.New("out of luck")

// A rank that dies, or goes home without Close, ends every call that depends on
// it with an error that names it, wherever the others are.
func TestGoneRankIsNamed(t *testing.T) {
	for _, how := range []struct {
		name string
		err  error
	}{{"dies", errOutOfLuck}, {"returns without Close", nil}} {
		for _, ranks := range []int{2, 3, 4, 7} {
			for _, slack := range []int{0, 3} {
				t.Run(fmt.Sprintf("%s/ranks=%d/slack=%d", how.name, ranks, slack), func(t *testing.T) {
					t.Parallel()
					for _, gone := range []int{0, 1, ranks - 1} {
						nameTheGone(t, ranks, slack, gaspi.Rank(gone), how.err)
					}
				})
			}
		}
	}
}

// A death ends the wait of every member at once, also of those without a link to the
// dead: the clock of the bubble moves only when everybody sleeps, so it stands still.
func TestDeathIsHeardWithoutALink(t *testing.T) {
	const ranks = 8
	cfg := small
	cfg.Spin, cfg.Yield, cfg.KeepGoing = -1, -1, true
	synctest.Test(t, func(t *testing.T) {
		var died time.Time
		err := gaspi.Local(t.Context(), ranks, cfg, func(ctx context.Context, p *gaspi.Proc) error {
			r, err := ssp.New[int64](ctx, p.World(), 3, ssp.Sum, 0)
			if err != nil {
				return err
			}
			if p.Rank() == 0 {
				synctest.Wait() // until all others sleep in the call
				died = time.Now()
				return errOutOfLuck
			}
			_, err = r.AllReduce(ctx, make([]int64, 3))
			if late := time.Since(died); late != 0 {
				t.Errorf("rank %d heard of the death after %v", p.Rank(), late)
			}
			var dead *gaspi.RankError
			if !errors.As(err, &dead) || dead.Rank != 0 {
				t.Errorf("rank %d got %v, which does not name rank 0", p.Rank(), err)
			}
			// Nobody is taken for gone before all have seen who was.
			limited, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			<-limited.Done()
			return nil
		})
		if !errors.Is(err, errOutOfLuck) {
			t.Error(err)
		}
	})
}

func nameTheGone(t *testing.T, ranks, slack int, gone gaspi.Rank, how error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var survivors sync.WaitGroup // nobody leaves before all have seen what they must see
	survivors.Add(ranks - 1)
	err := gaspi.Local(ctx, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
		r, err := ssp.New[float32](ctx, p.World(), 10, ssp.Sum, slack)
		if err != nil {
			return err
		}
		mine := make([]float32, 10)
		for calls := 0; calls < 1000 && err == nil; calls++ {
			if p.Rank() == gone && calls == 5 {
				return how
			}
			_, err = r.AllReduce(ctx, mine)
		}
		defer survivors.Wait()
		defer survivors.Done()
		var dead *gaspi.RankError
		if !errors.As(err, &dead) || dead.Rank != gone {
			return fmt.Errorf("AllReduce: got %v, which does not name rank %d", err, gone)
		}
		if err := r.Close(ctx); !errors.As(err, &dead) || dead.Rank != gone {
			return fmt.Errorf("Close: got %v, which does not name rank %d", err, gone)
		}
		return nil
	})
	if !errors.Is(err, how) {
		t.Fatalf("rank %d gone: %v", gone, err)
	}
	if err != nil && strings.Contains(err.Error(), "does not name") {
		t.Fatalf("rank %d gone: %v", gone, err)
	}
}

// Two goroutines of a rank must not call at once: the second gets an error, and
// the call of the first goes on.
func TestConcurrentCallsAreRefused(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		r, err := ssp.New[int64](ctx, p.World(), 1, ssp.Sum, 0)
		if err != nil {
			return err
		}
		call := func() error {
			for {
				// The other goroutine may be in its call, for the moment that its
				// refusal takes.
				if _, err := r.AllReduce(ctx, []int64{1}); !errors.Is(err, gaspi.ErrInUse) {
					return err
				}
			}
		}
		if p.Rank() == 0 { // which has to wait until rank 1 leaves the barrier
			done := make(chan error)
			go func() { done <- call() }()
			var refused error
			for !errors.Is(refused, gaspi.ErrInUse) { // by the length, until the goroutine is in
				_, refused = r.AllReduce(ctx, nil)
			}
			if err := p.Barrier(ctx, p.World()); err != nil {
				return err
			}
			if err := <-done; err != nil {
				return err
			}
			return r.Close(ctx)
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		if err := call(); err != nil {
			return err
		}
		return r.Close(ctx)
	})
}

func TestBadCallsAreRefused(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		r, err := ssp.New[int64](ctx, p.World(), 4, ssp.Sum, 1)
		if err != nil {
			return err
		}
		for _, n := range []int{0, 3, 5} {
			if _, err := r.AllReduce(ctx, make([]int64, n)); err == nil || !strings.Contains(err.Error(), "4") {
				return fmt.Errorf("%d elements: got %v", n, err)
			}
		}
		if r.Clock() != 0 {
			return fmt.Errorf("calls that were refused made the clock %d", r.Clock())
		}
		return r.Close(ctx)
	})
}
