package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// Run runs a loop with ranks that are goroutines of this process. If it fails, the rows that it
// did not come to are NaN.
func Run(ctx context.Context, l Loop) (*Measured, error) {
	nothing := Row{math.NaN(), math.NaN(), math.NaN()}
	r := &Measured{
		Loop: l, Setting: "ranks are goroutines of one process",
		Stale: slices.Repeat([]Row{nothing}, len(l.Slacks)), Ring: nothing, Calm: [2]Row{nothing, nothing},
	}
	if l.Link != "" {
		r.Setting += ", each behind a link of " + l.Link
	}
	one := func(to *Row, l *Loop, open opener) error {
		row, late, err := l.run(ctx, open)
		if err != nil {
			return err
		}
		*to = row
		if !late.Valid() {
			r.Doubt = late.String()
		}
		return nil
	}
	for i, slack := range l.Slacks {
		if err := one(&r.Stale[i], &l, l.staleStep(slack)); err != nil {
			return r, fmt.Errorf("slack %d: %w", slack, err)
		}
	}
	calm := l.calmed()
	return r, errors.Join(one(&r.Ring, &l, l.ringStep), one(&r.Calm[0], calm, l.staleStep(0)), one(&r.Calm[1], calm, l.ringStep))
}

// A reductionStep is the reduction of one iteration.
type reductionStep struct {
	reduce func(ctx context.Context) (waited time.Duration, err error)
	close  func(ctx context.Context) error
}

// An opener makes the step of a rank.
type opener func(context.Context, *gaspi.Proc) (reductionStep, error)

// staleStep is a step with a stale reduction.
func (l *Loop) staleStep(slack int) opener {
	return func(ctx context.Context, p *gaspi.Proc) (reductionStep, error) {
		r, err := ssp.New[float64](ctx, p.World(), l.Bytes/elementBytes, ssp.Sum, slack)
		if err != nil {
			return reductionStep{}, err
		}
		mine := make([]float64, l.Bytes/elementBytes)
		return reductionStep{reduce: func(ctx context.Context) (time.Duration, error) {
			res, err := r.AllReduce(ctx, mine)
			return res.Waited, err
		}, close: r.Close}, nil
	}
}

// ringStep is a step with a ring allreduce.
func (l *Loop) ringStep(ctx context.Context, p *gaspi.Proc) (reductionStep, error) {
	t, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Algorithms: "allreduce:ring"})
	if err != nil {
		return reductionStep{}, err
	}
	mine, err := collectives.Alloc[float64](ctx, t, l.Bytes/elementBytes)
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
func (l *Loop) run(ctx context.Context, open opener) (Row, emulation.Punctuality, error) {
	var mu sync.Mutex
	var sum Row                    // guarded by mu
	var longest time.Duration      // guarded by mu
	var late emulation.Punctuality // guarded by mu
	err := gaspi.Local(ctx, l.Ranks, gaspi.Config{Transport: "loopback", Emulate: l.Link}, func(ctx context.Context, p *gaspi.Proc) error {
		s, err := open(ctx, p)
		if err != nil {
			return err
		}
		call, wait, took, err := l.iterate(ctx, p, s)
		if err != nil {
			return err
		}
		mu.Lock()
		sum.Call, sum.Wait, longest = sum.Call+call.Seconds(), sum.Wait+wait.Seconds(), max(longest, took)
		late = late.Merge(p.Emulation().Punctuality())
		mu.Unlock()
		return s.close(ctx) // at once: others may wait for what only this sends
	})
	n := float64(l.Ranks * l.Iterations)
	return Row{Call: sum.Call / n, Wait: sum.Wait / n, Rate: float64(l.Iterations) / longest.Seconds()}, late, err
}

// iterate is the loop of one rank.
func (l *Loop) iterate(ctx context.Context, p *gaspi.Proc, s reductionStep) (call, wait, took time.Duration, err error) {
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
