package main

import (
	"context"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// notifyRate measures notifications in a row.
func notifyRate() operation {
	return operation{
		name: "notify-rate",
		about: `notifications without data from rank 0 to rank 1, which sees every
one of them and answers once for each window of 512 ids. Limit: atomic stores
to as many words in the same memory, seen and answered in the same way.`,
		minRanks: 2,
		prepare:  prepareNotifyRate,
	}
}

// noteWindow is how many notifications go before the receiver answers; half a
// queue.
const noteWindow = 512

func prepareNotifyRate(ctx context.Context, b *bench, _ uint64) ([]workload, error) {
	w := workload{Subject: report.Subject{Op: "notify-rate", Rate: true}, timed: b.p.Rank() == 0, steps: noteWindow}
	peer, part := b.peer()
	near, err := b.nearby(ctx, peer, part)
	if err != nil {
		return nil, err
	}
	if !part {
		w.contenders = []contender{{report.ImplGaspi, idle}, {report.ImplLimit, idle}}
		if !near {
			w.contenders = w.contenders[:1]
		}
		return []workload{w}, nil
	}
	m, err := newMail(b, peer, 0)
	if err != nil {
		return nil, err
	}
	c := &chimes{mail: m}
	mine := c.receiver(ctx)
	if m.first {
		mine = c.sender(ctx)
	}
	w.contenders = []contender{{report.ImplGaspi, mine}}
	if !near {
		return []workload{w}, nil
	}
	if c.mine, err = b.flags(b.p.Rank(), windowFlags, noteWindow); err != nil {
		return nil, err
	}
	if c.theirs, err = b.flags(peer, windowFlags, noteWindow); err != nil {
		return nil, err
	}
	bare := c.bareReceiver(ctx)
	if m.first {
		bare = c.bareSender(ctx)
	}
	w.contenders = append(w.contenders, contender{report.ImplLimit, bare})
	return []workload{w}, nil
}

// chimes is one end of a series of notifications.
type chimes struct {
	*mail
	mine, theirs []uint32
}

func (c *chimes) sender(ctx context.Context) func(int) error {
	return func(n int) error {
		for range n {
			v := gaspi.Value(c.seq.next())
			for i := range gaspi.NotificationID(noteWindow) {
				if err := c.q.Notify(c.dst, gaspi.Notification{ID: noteCount + i, Value: v}); err != nil {
					return err
				}
			}
			if err := c.q.Wait(ctx); err != nil {
				return err
			}
			if err := c.b.seg.WaitUntil(ctx, noteAck, gaspi.Equal, v); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *chimes) receiver(ctx context.Context) func(int) error {
	return func(n int) error {
		for range n {
			v := gaspi.Value(c.seq.next())
			for i := range gaspi.NotificationID(noteWindow) {
				if err := c.b.seg.WaitUntil(ctx, noteCount+i, gaspi.Equal, v); err != nil {
					return err
				}
			}
			if err := c.q.Notify(c.dst, gaspi.Notification{ID: noteAck, Value: v}); err != nil {
				return err
			}
			if err := c.q.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *chimes) bareSender(ctx context.Context) func(int) error {
	return func(n int) error {
		for range n {
			v := c.seq.next()
			for i := range c.theirs {
				raise(&c.theirs[i], v)
			}
			if err := c.b.await(ctx, c.flag, v); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *chimes) bareReceiver(ctx context.Context) func(int) error {
	return func(n int) error {
		for range n {
			v := c.seq.next()
			for i := range c.mine {
				if err := c.b.await(ctx, &c.mine[i], v); err != nil {
					return err
				}
			}
			raise(c.bell, v)
		}
		return nil
	}
}
