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

// An overlapVariant is one of the overlaps that are compared on a grid.
type overlapVariant[In distfft.Number, Out distfft.Complex] struct {
	bands[In, Out]
	run  Run
	laps []lap
}

// measure makes the runs of one grid, a repetition of each in turn, so that a machine
// that is slow for a while is so for all. All ranks call it, and return the same.
func measure[In distfft.Number, Out distfft.Complex](ctx context.Context, p *gaspi.Proc, set []distfft.Config, o options) ([]Run, error) {
	var all []*overlapVariant[In, Out]
	data, err := newBands[In, Out](p, set[0], o)
	if err != nil {
		return nil, err
	}
	for _, cfg := range set {
		plan, err := distfft.New[In, Out](ctx, p.World(), cfg)
		if err != nil {
			return nil, err
		}
		c := &overlapVariant[In, Out]{bands: data}
		c.plan = plan
		c.run = Run{Grid: cfg.Grid.String(), P: cfg.P, Q: cfg.Q, Overlap: cfg.Depth, Exchanges: exchanges(plan.Exchanges())}
		if c.run.Errors, err = c.check(ctx, o.verify); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	for range o.repeat {
		for _, c := range all {
			l, err := c.lap(ctx)
			if err != nil {
				return nil, err
			}
			c.laps = append(c.laps, l)
		}
	}
	var runs []Run
	for _, c := range all {
		if err := c.sumUp(ctx, o); err != nil {
			return nil, err
		}
		runs = append(runs, c.run)
	}
	// Nobody gives memory back that another still uses.
	if err := p.Barrier(ctx, p.World()); err != nil {
		return nil, err
	}
	for _, c := range all {
		if err := c.plan.Close(); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// sumUp makes a run of its laps. It is collective.
func (c *overlapVariant[In, Out]) sumUp(ctx context.Context, o options) error {
	run := &c.run
	run.ForwardSeconds = median(c.laps, func(l lap) time.Duration { return l.forward }).forward.Seconds() / float64(o.bands)
	run.InverseSeconds = median(c.laps, func(l lap) time.Duration { return l.inverse }).inverse.Seconds() / float64(o.bands)
	run.ExchangeSeconds = median(c.laps, func(l lap) time.Duration { return l.alone }).alone.Seconds()
	run.ForwardRate, run.InverseRate = rate(c.grid, o.real, run.ForwardSeconds), rate(c.grid, o.real, run.InverseSeconds)

	// All ranks take the same lap, since all know how long the slowest rank took.
	typical := median(c.laps, func(l lap) time.Duration { return l.forward + l.inverse })
	var err error
	run.Split, err = gatherSplits(ctx, c.proc, newSplit(typical, o.bands))
	return err
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
