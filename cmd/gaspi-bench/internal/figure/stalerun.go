package figure

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// runLoop runs a loop with ranks that are goroutines of this process.
func runLoop(ctx context.Context, l loop) (*looped, error) {
	r := &looped{loop: l, setting: "ranks are goroutines of one process"}
	if l.link != "" {
		r.setting += ", each behind a link of " + l.link
	}
	one := func(to *staleRow, l *loop, open opener) error {
		row, late, err := l.run(ctx, open)
		*to = row
		if !late.Valid() {
			r.doubt = late.String()
		}
		return err
	}
	r.stale = make([]staleRow, len(l.slacks))
	for i, slack := range l.slacks {
		if err := one(&r.stale[i], &l, l.staleStep(slack)); err != nil {
			return nil, fmt.Errorf("slack %d: %w", slack, err)
		}
	}
	calm := l.calmed()
	return r, errors.Join(one(&r.calm[0], calm, l.staleStep(0)), one(&r.calm[1], calm, l.ringStep), one(&r.ring, &l, l.ringStep))
}

// A reductionStep is the reduction of one iteration.
type reductionStep struct {
	reduce func(ctx context.Context) (waited time.Duration, err error)
	close  func(ctx context.Context) error
}

// An opener makes the step of a rank.
type opener func(context.Context, *gaspi.Proc) (reductionStep, error)

// staleStep is a step with a stale reduction.
func (l *loop) staleStep(slack int) opener {
	return func(ctx context.Context, p *gaspi.Proc) (reductionStep, error) {
		r, err := ssp.New[float64](ctx, p.World(), l.bytes/elementBytes, ssp.Sum, slack)
		if err != nil {
			return reductionStep{}, err
		}
		mine := make([]float64, l.bytes/elementBytes)
		return reductionStep{reduce: func(ctx context.Context) (time.Duration, error) {
			res, err := r.AllReduce(ctx, mine)
			return res.Waited, err
		}, close: r.Close}, nil
	}
}

// ringStep is a step with a ring allreduce.
func (l *loop) ringStep(ctx context.Context, p *gaspi.Proc) (reductionStep, error) {
	t, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Algorithms: "allreduce:ring"})
	if err != nil {
		return reductionStep{}, err
	}
	mine, err := collectives.Alloc[float64](ctx, t, l.bytes/elementBytes)
	if err != nil {
		return reductionStep{}, err
	}
	return reductionStep{reduce: func(ctx context.Context) (time.Duration, error) {
		return 0, collectives.AllReduce(ctx, t, mine, collectives.Sum)
	}, close: func(ctx context.Context) error {
		return errors.Join(collectives.Release(ctx, t, mine), t.Close())
	}}, nil
}

// run runs the loop with the steps that open makes, and says whether the host carried
// the links, if there are any.
func (l *loop) run(ctx context.Context, open opener) (staleRow, gaspi.Punctuality, error) {
	var mu sync.Mutex
	var sum staleRow           // guarded by mu
	var longest time.Duration  // guarded by mu
	var late gaspi.Punctuality // guarded by mu
	err := gaspi.Local(ctx, l.ranks, gaspi.Config{Transport: "loopback", Emulate: l.link}, func(ctx context.Context, p *gaspi.Proc) error {
		s, err := open(ctx, p)
		if err != nil {
			return err
		}
		call, wait, took, err := l.iterate(ctx, p, s)
		if err != nil {
			return err
		}
		mu.Lock()
		sum.call, sum.wait, longest = sum.call+call.Seconds(), sum.wait+wait.Seconds(), max(longest, took)
		late = late.Merge(p.Punctuality())
		mu.Unlock()
		return s.close(ctx) // at once: others may wait for what only this sends
	})
	n := float64(l.ranks * l.iterations)
	return staleRow{call: sum.call / n, wait: sum.wait / n, rate: float64(l.iterations) / longest.Seconds()}, late, err
}

// iterate is the loop of one rank.
func (l *loop) iterate(ctx context.Context, p *gaspi.Proc, s reductionStep) (call, wait, took time.Duration, err error) {
	if err := p.Barrier(ctx, p.World()); err != nil {
		return 0, 0, 0, err
	}
	began := time.Now()
	for _, seconds := range l.pauses(int(p.Rank())) {
		if err := pause(ctx, time.Duration(seconds*float64(time.Second))); err != nil {
			return 0, 0, 0, err
		}
		start := time.Now()
		waited, err := s.reduce(ctx)
		if err != nil {
			return 0, 0, 0, err
		}
		call += time.Since(start)
		wait += waited
	}
	return call, wait, time.Since(began), nil
}

// pause computes nothing for so long: it leaves the processor to other ranks, as if each
// had one of its own.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
