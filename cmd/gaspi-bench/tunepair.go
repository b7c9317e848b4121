package main

import (
	"context"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
	"github.com/gaspi-go/gaspi-go/segment"
)

// seconds is how long an operation takes, of which a round of batch has steps, by
// the clock of rank 0.
func (b *bench) seconds(ctx context.Context, op string, steps int, batch func(n int) error) (float64, error) {
	b.out.Doing(op, 0)
	rows, err := b.measure(ctx, workload{
		Subject: report.Subject{Op: op}, timed: b.p.Rank() == 0, steps: steps, contenders: []contender{{report.ImplGaspi, batch}},
	})
	if err != nil {
		return 0, err
	}
	return rows[0].P50US * 1e-6, nil
}

// tunePair measures what two ranks with a core each can.
func (b *bench) tunePair(ctx context.Context, m *price.Machine) error {
	mail, err := newMail(b, 1-b.p.Rank(), 8)
	if err != nil {
		return err
	}
	alone := func(batch func(int) error) func(int) error {
		if b.p.Rank() == 0 {
			return batch
		}
		return idle
	}
	if m.Shared.Signal, err = b.seconds(ctx, "a notification", noteWindow, alone(mail.posts(ctx, false))); err != nil {
		return err
	}
	if m.Shared.Put, err = b.seconds(ctx, "a write", noteWindow, alone(mail.posts(ctx, true))); err != nil {
		return err
	}
	if m.Await, err = b.seconds(ctx, "a look", noteWindow, alone(mail.looks())); err != nil {
		return err
	}
	way, err := b.seconds(ctx, "a notification's way", 2, mail.rounds(ctx, mail.notify, mail.awaitNotification))
	if err != nil {
		return err
	}
	m.Shared.Latency = max(way-m.Shared.Signal-m.Await, 1e-9)
	delivery, err := b.seconds(ctx, "a write's way", 2, mail.rounds(ctx, mail.writeNotify, mail.reading(mail.awaitNotification)))
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

// posts makes a batch of windows of posts that nobody looks at.
func (m *mail) posts(ctx context.Context, write bool) func(int) error {
	return func(n int) error {
		for range n {
			for i := range gaspi.NotificationID(noteWindow) {
				note := gaspi.Notification{ID: noteCount + i, Value: 1}
				var err error
				if write {
					err = m.q.WriteNotify(m.dst, m.src, note)
				} else {
					err = m.q.Notify(m.dst, note)
				}
				if err != nil {
					return err
				}
			}
			if err := m.q.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// looks makes a batch of looks at notifications.
func (m *mail) looks() func(int) error {
	return func(n int) error {
		for range n {
			for i := range gaspi.NotificationID(noteWindow) {
				m.b.seg.Peek(noteCount + i)
			}
		}
		return nil
	}
}

func (m *mail) notify(ctx context.Context, v uint32) error {
	if err := m.q.Notify(m.dst, gaspi.Notification{ID: notePing, Value: gaspi.Value(v)}); err != nil {
		return err
	}
	return m.q.Wait(ctx)
}

// tuneAlone measures what a call takes where there is nobody to wait for: one
// without steps, and one with a step.
func (b *bench) tuneAlone(ctx context.Context, m *price.Machine) error {
	none, one := idle, idle
	release := func() error { return nil }
	if b.p.Rank() == 0 {
		g, err := b.p.NewGroup(0)
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
		none = repeat(ctx, func(ctx context.Context) error {
			_, err := collectives.Broadcast(ctx, t, 0, dst)
			return err
		})
		one = repeat(ctx, func(ctx context.Context) error { return collectives.AllGather(ctx, t, dst, src) })
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
func (b *bench) tuneRates(ctx context.Context, m *price.Machine) error {
	b.out.Doing("copies and folds", 0)
	c := *b.opts.collective
	s := c.shape(2, rateBytes)
	t, err := b.newTeam(ctx, &c)
	if err != nil {
		return err
	}
	k, err := c.dtype.open(ctx, t, &c, s)
	if err != nil {
		return err
	}
	v, err := b.reach(s, k)
	if err != nil {
		return err
	}
	fold, err := c.dtype.fold(c.op)
	if err != nil {
		return err
	}
	me := int(b.p.Rank())
	mine, theirs := v.in[me], v.in[1-me]
	own := slices.Clone(mine)
	private := reduce.BytesOf(make([]float64, rateBytes/8))
	sources := [][]byte{own, theirs}
	// Each writes its vector; then both read that of the other at once.
	rate := func(work func()) (float64, error) {
		var times []time.Duration
		for range rateRounds {
			copy(mine, private)
			if err := b.p.Barrier(ctx, b.p.World()); err != nil {
				return 0, err
			}
			start := time.Now()
			work()
			times = append(times, time.Since(start))
			if err := b.p.Barrier(ctx, b.p.World()); err != nil {
				return 0, err
			}
		}
		if err := b.slowest(ctx, times); err != nil {
			return 0, err
		}
		return rateBytes / (report.Summarize(times, 1).P50 * 1e-6), nil
	}
	if m.CopyRate, err = rate(func() { segment.Copy(own, theirs) }); err != nil {
		return err
	}
	if m.ReduceRate, err = rate(func() { fold.fold(own, sources) }); err != nil {
		return err
	}
	if err := k.release(ctx); err != nil {
		return err
	}
	return t.Close()
}

const rateRounds = 101
