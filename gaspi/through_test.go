package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// TestWaitThroughGoesOnWhenARankDies has rank 1 die while the others sleep: they look, see
// it, and wait on for each other.
func TestWaitThroughGoesOnWhenARankDies(t *testing.T) {
	mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if h := p.Health(1); h != gaspi.Healthy {
			return fmt.Errorf("rank 1 is %v before it dies", h)
		}
		if p.Rank() == 1 {
			synctest.Wait()
			return errDies
		}
		if err := s.WaitFunc(ctx, func() bool { return p.Health(1) == gaspi.Corrupt }, gaspi.ThroughLosses); err != nil {
			return err
		}
		if p.Failure(1) == nil || !p.Silent(1) || p.Silent(0) || p.Silent(3) {
			return fmt.Errorf("rank 1 is dead (%v), silent are 0: %v, 1: %v, 3: %v", p.Failure(1), p.Silent(0), p.Silent(1), p.Silent(3))
		}
		if p.Health(-1) != gaspi.Corrupt || p.Health(3) != gaspi.Corrupt {
			return errors.New("a rank that does not exist is healthy")
		}
		if p.Rank() == 0 {
			synctest.Wait() // the other sleeps, although rank 1 is dead
			return p.MustQueue(0).Notify(s.At(2, 0), gaspi.Notification{ID: 5, Value: 1})
		}
		if err := s.WaitFunc(ctx, func() bool { return s.Peek(5) != 0 }, gaspi.ThroughLosses|gaspi.Asleep); err != nil {
			return err
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if err := s.WaitFunc(ended, func() bool { return false }, gaspi.ThroughLosses); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("a wait whose context has ended: %v", err)
		}
		if err := s.WaitFunc(ended, func() bool { return false }, gaspi.ThroughLosses|gaspi.Asleep); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("a sleep whose context has ended: %v", err)
		}
		return nil
	})
}
