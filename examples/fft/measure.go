package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/fft/distfft"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A lap is one measurement of all bands there and back, on this rank.
type lap struct {
	forward, inverse time.Duration // of the slowest rank
	alone            time.Duration // of the slowest rank, one band's exchanges and nothing else
	wall             time.Duration // of this one, both directions
	times            distfft.Times // of this one, both directions
}

// measure makes one run. All ranks call it; rank 0 returns all of the Run.
func measure[In distfft.Number, Out distfft.Complex](ctx context.Context, p *gaspi.Proc, cfg distfft.Config, o options) (Run, error) {
	plan, err := distfft.New[In, Out](ctx, p.World(), cfg)
	if err != nil {
		return Run{}, err
	}
	b := newBands(p, plan, cfg, o)
	run := Run{Grid: cfg.Grid.String(), P: cfg.P, Q: cfg.Q, Overlap: cfg.Depth, Exchanges: exchanges(plan.Exchanges())}
	if run.Errors, err = b.check(ctx, o.verify); err != nil {
		return Run{}, err
	}
	laps := make([]lap, o.repeat)
	for i := range laps {
		if laps[i], err = b.lap(ctx); err != nil {
			return Run{}, err
		}
	}
	forward := median(laps, func(l lap) time.Duration { return l.forward })
	inverse := median(laps, func(l lap) time.Duration { return l.inverse })
	run.ForwardSeconds = forward.forward.Seconds() / float64(o.bands)
	run.InverseSeconds = inverse.inverse.Seconds() / float64(o.bands)
	run.ExchangeSeconds = median(laps, func(l lap) time.Duration { return l.alone }).alone.Seconds()
	run.ForwardRate, run.InverseRate = rate(cfg.Grid, o.real, run.ForwardSeconds), rate(cfg.Grid, o.real, run.InverseSeconds)

	// All ranks take the same lap, since all know how long the slowest rank took.
	typical := median(laps, func(l lap) time.Duration { return l.forward + l.inverse })
	if run.Split, err = gatherSplits(ctx, p, newSplit(typical, o.bands)); err != nil {
		return Run{}, err
	}
	// Nobody gives memory back that another still uses.
	if err := p.Barrier(ctx, p.World()); err != nil {
		return Run{}, err
	}
	return run, plan.Close()
}

// lap transforms all bands there and back, and takes the time.
func (b *bands[In, Out]) lap(ctx context.Context) (lap, error) {
	var l lap
	b.plan.Times() // what was before does not count
	forward, err := b.timed(ctx, func() error { return b.plan.ForwardBands(ctx, b.dst, b.src) })
	if err != nil {
		return l, err
	}
	inverse, err := b.timed(ctx, func() error { return b.plan.InverseBands(ctx, b.src, b.dst) })
	if err != nil {
		return l, err
	}
	l.wall, l.times = forward+inverse, b.plan.Times()
	alone, err := b.timed(ctx, func() error { return b.plan.Exchange(ctx) })
	if err != nil {
		return l, err
	}
	slowest := []int64{int64(forward), int64(inverse), int64(alone)}
	if err := gaspi.AllReduce(ctx, b.proc.World(), slowest, slowest, gaspi.Max); err != nil {
		return l, err
	}
	l.forward, l.inverse = time.Duration(slowest[0]), time.Duration(slowest[1])
	l.alone = time.Duration(slowest[2])
	return l, nil
}

// timed lets all ranks begin something together and takes the time on this one.
func (b *bands[In, Out]) timed(ctx context.Context, f func() error) (time.Duration, error) {
	if err := b.proc.Barrier(ctx, b.proc.World()); err != nil {
		return 0, err
	}
	begin := time.Now()
	err := f()
	return time.Since(begin), err
}

// median is the lap in the middle of the order by a duration.
func median(laps []lap, by func(lap) time.Duration) lap {
	sorted := slices.Clone(laps)
	slices.SortStableFunc(sorted, func(a, b lap) int { return cmp.Compare(by(a), by(b)) })
	return sorted[len(sorted)/2]
}

// gatherSplits brings the splits of all ranks together on all of them.
func gatherSplits(ctx context.Context, p *gaspi.Proc, mine Split) ([]Split, error) {
	all := make([]Split, p.Size())
	for r := range all {
		row := make([]float64, 5)
		if r == int(p.Rank()) {
			row = []float64{mine.Local, mine.Pack, mine.Exchange, mine.Waiting, mine.Other}
		}
		if err := gaspi.AllReduce(ctx, p.World(), row, row, gaspi.Sum); err != nil {
			return nil, err
		}
		all[r] = Split{Local: row[0], Pack: row[1], Exchange: row[2], Waiting: row[3], Other: row[4]}
	}
	return all, nil
}
