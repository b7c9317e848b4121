package model

import (
	"context"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/transfer"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
	"github.com/gaspi-go/gaspi-go/segment"
)

// seconds is how long an operation takes, of which a round of batch has steps, by
// the clock of rank 0.
func (b *Tuner) seconds(ctx context.Context, op string, steps int, batch func(n int) error) (float64, error) {
	b.Out.Doing(op, 0)
	rows, err := b.Measure(ctx, measure.Workload{
		Subject: report.Subject{Op: op}, Timed: b.P.Rank() == 0, Steps: steps, Contenders: []measure.Contender{{Impl: report.ImplGaspi, Batch: batch}},
	})
	if err != nil {
		return 0, err
	}
	return rows[0].P50US * 1e-6, nil
}

// PartPair measures what two ranks with a core each can.
func (b *Tuner) tunePair(ctx context.Context, m *price.Machine) error {
	mail, err := transfer.NewMail(b.Bench, 1-b.P.Rank(), 8, false)
	if err != nil {
		return err
	}
	alone := func(batch func(int) error) func(int) error {
		if b.P.Rank() == 0 {
			return batch
		}
		return measure.Idle
	}
	if m.Shared.Signal, err = b.seconds(ctx, "a notification", transfer.NoteWindow, alone(mail.Posts(ctx, false))); err != nil {
		return err
	}
	if m.Shared.Put, err = b.seconds(ctx, "a write", transfer.NoteWindow, alone(mail.Posts(ctx, true))); err != nil {
		return err
	}
	if m.Await, err = b.seconds(ctx, "a look", transfer.NoteWindow, alone(mail.Looks())); err != nil {
		return err
	}
	way, err := b.seconds(ctx, "a notification's way", 2, mail.Rounds(ctx, mail.Notify, mail.AwaitNotification))
	if err != nil {
		return err
	}
	m.Shared.Latency = max(way-m.Shared.Signal-m.Await, 1e-9)
	delivery, err := b.seconds(ctx, "a write's way", 2, mail.Rounds(ctx, mail.WriteNotify, mail.Reading(mail.AwaitNotification)))
	if err != nil {
		return err
	}
	if err := b.tuneAlone(ctx, m); err != nil {
		return err
	}
	// A step mostly reads what a peer has just written, which takes another way
	// between the cores.
	m.Step += max(delivery-way-(m.Shared.Put-m.Shared.Signal), 0)
	if err := b.tuneRates(ctx, m); err != nil {
		return err
	}
	return b.tuneMemory(ctx, m)
}

// tuneAlone measures what a call takes where there is nobody to wait for: one
// without steps, and one with a step.
func (b *Tuner) tuneAlone(ctx context.Context, m *price.Machine) error {
	none, one := measure.Idle, measure.Idle
	release := func() error { return nil }
	if b.P.Rank() == 0 {
		g, err := b.P.NewGroup(0)
		if err == nil {
			err = g.Commit(ctx)
		}
		if err != nil {
			return err
		}
		t, err := collectives.NewTeam(ctx, g, collectives.Config{})
		if err != nil {
			return err
		}
		src, err := collectives.Alloc[float64](ctx, t, 1)
		if err != nil {
			return err
		}
		dst, err := collectives.Alloc[float64](ctx, t, 1)
		if err != nil {
			return err
		}
		none = measure.Repeat(ctx, func(ctx context.Context) error {
			_, err := collectives.Broadcast(ctx, t, 0, dst)
			return err
		})
		one = measure.Repeat(ctx, func(ctx context.Context) error { return collectives.AllGather(ctx, t, dst, src) })
		release = t.Close
	}
	var err error
	if m.Call, err = b.seconds(ctx, "a call", 1, none); err != nil {
		return err
	}
	step, err := b.seconds(ctx, "a step", 1, one)
	if err != nil {
		return err
	}
	m.Step = max(step-m.Call, 1e-9)
	return release()
}

// rateBytes is how much is copied and folded to find out how fast that is in the
// cache.
const rateBytes = 128 << 10

// tuneRates measures copies and folds of what a peer has just written, as it is in
// collective operations.
func (b *Tuner) tuneRates(ctx context.Context, m *price.Machine) error {
	b.Out.Doing("copies and folds", 0)
	c := b.call
	s := c.Shape(2, rateBytes)
	k, err := c.Open(ctx, b.P, s)
	if err != nil {
		return err
	}
	v, err := b.Reach(s, k.Own)
	if err != nil {
		return err
	}
	fold, err := c.Dtype.Fold(c.Op)
	if err != nil {
		return err
	}
	me := int(b.P.Rank())
	mine, theirs := v.In[me], v.In[1-me]
	own := slices.Clone(mine)
	private := reduce.BytesOf(make([]float64, rateBytes/8))
	sources := [][]byte{own, theirs}
	// Each writes its vector; then both read that of the other at once.
	rate := func(work func()) (float64, error) {
		var times []time.Duration
		for range rateRounds {
			copy(mine, private)
			if err := b.P.Barrier(ctx, b.P.World()); err != nil {
				return 0, err
			}
			start := time.Now()
			work()
			times = append(times, time.Since(start))
			if err := b.P.Barrier(ctx, b.P.World()); err != nil {
				return 0, err
			}
		}
		if err := b.Slowest(ctx, times); err != nil {
			return 0, err
		}
		return rateBytes / (report.Summarize(times, 1).P50 * 1e-6), nil
	}
	if m.CopyRate, err = rate(func() { segment.Copy(own, theirs) }); err != nil {
		return err
	}
	if m.ReduceRate, err = rate(func() { fold.Fold(own, sources) }); err != nil {
		return err
	}
	return k.Release(ctx)
}

const rateRounds = 101
