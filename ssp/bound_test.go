package ssp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// ended is a context that has ended: with it, a call that need not wait
// succeeds, and one that must wait says so at once.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Ranks in front may be ahead of those behind by exactly the slack. The call
// after that waits, and when it was ended by its context, goes on where it was
// with the contribution that it was given first.
func TestBoundHoldsExactly(t *testing.T) {
	for _, ranks := range sizes[1:] {
		for _, slack := range []int{0, 1, 5} {
			for _, behind := range []string{"one", "all but one"} {
				t.Run(fmt.Sprintf("ranks=%d/slack=%d/behind=%s", ranks, slack, behind), func(t *testing.T) {
					// Members of each kind: a corner with an extra, one without, an extra.
					for _, slow := range slices.Compact([]int{0, ranks / 2, ranks - 1}) {
						waits := func(r gaspi.Rank) bool { return (int(r) == slow) == (behind == "one") }
						boundHolds(t, ranks, slack, waits)
					}
				})
			}
		}
	}
}

func boundHolds(t *testing.T, ranks, slack int, behind func(gaspi.Rank) bool) {
	t.Helper()
	var ahead sync.WaitGroup // ranks that have not reached the bound yet
	for r := range gaspi.Rank(ranks) {
		if !behind(r) {
			ahead.Add(1)
		}
	}
	n := 2 * ranks
	ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
		there := sync.OnceFunc(ahead.Done)
		if !behind(p.Rank()) {
			defer there() // also when this rank fails, so that the others need not wait for it
		}
		r, err := ssp.New[int64](ctx, p.World(), n, ssp.Sum, slack)
		if err != nil {
			return err
		}
		b := bounded{r: r, p: p, ranks: ranks, mine: make([]int64, n)}
		if err := b.call(ctx, 1); err != nil {
			return err
		}
		if behind(p.Rank()) {
			ahead.Wait()
		} else {
			if err := b.toTheBound(); err != nil {
				return err
			}
			there()
			if err := b.resume(ctx); err != nil {
				return err
			}
		}
		for clock := r.Clock() + 1; clock <= int64(slack)+4; clock++ {
			if err := b.call(ctx, clock); err != nil {
				return err
			}
		}
		return r.Close(ctx)
	})
}

// bounded is a rank of boundHolds.
type bounded struct {
	r     *ssp.Reduction[int64]
	p     *gaspi.Proc
	ranks int
	mine  []int64

	waited time.Duration // in the last call
}

func (b *bounded) call(ctx context.Context, clock int64) error {
	tag(b.mine, b.ranks, b.p.Rank(), clock)
	res, err := b.r.AllReduce(ctx, b.mine)
	if err != nil {
		return fmt.Errorf("clock %d: %w", clock, err)
	}
	b.waited = res.Waited
	return checkResult(res, b.ranks, b.p.Rank(), clock, int64(b.r.Slack()))
}

// toTheBound makes all calls that need no other rank, none of which may wait,
// and then one that must.
func (b *bounded) toTheBound() error {
	last := 1 + int64(b.r.Slack())
	for clock := int64(2); clock <= last; clock++ {
		if err := b.call(ended(), clock); err != nil {
			return err
		}
		if b.waited != 0 {
			return fmt.Errorf("clock %d did not wait, but says that it waited %v", clock, b.waited)
		}
	}
	for range 3 {
		if err := b.call(ended(), last+1); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("clock %d: got %v; want it to wait for a rank of clock 1", last+1, err)
		}
		if b.r.Clock() != last+1 {
			return fmt.Errorf("after an end of call %d the clock is %d", last+1, b.r.Clock())
		}
	}
	return nil
}

// resume finishes the call that toTheBound began. The arguments of this call do not count.
func (b *bounded) resume(ctx context.Context) error {
	clear(b.mine)
	res, err := b.r.AllReduce(ctx, b.mine)
	if err != nil {
		return err
	}
	if res.Waited <= 0 {
		return fmt.Errorf("clock %d waited, but says that it waited %v", b.r.Clock(), res.Waited)
	}
	return checkResult(res, b.ranks, b.p.Rank(), b.r.Clock(), int64(b.r.Slack()))
}
