package transfer

import (
	"context"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// NotifyRate measures notifications in a row.
func NotifyRate() measure.Benchmark {
	return measure.Benchmark{
		Name: "notify-rate",
		About: `notifications without data from rank 0 to rank 1, which sees every
one of them and answers once for each window of 512 ids. Limit: atomic stores
to as many words in the same memory, seen and answered in the same way.`,
		MinRanks: 2,
		Prepare:  prepareNotifyRate,
	}
}

// NoteWindow is how many notifications go before the receiver answers; half a
// queue.
const NoteWindow = 512

func prepareNotifyRate(ctx context.Context, b *measure.Bench, _ uint64) ([]measure.Workload, error) {
	w := measure.Workload{Subject: report.Subject{Op: "notify-rate", Rate: true}, Timed: b.P.Rank() == 0, Steps: NoteWindow}
	peer, part := b.Peer()
	near, err := b.Nearby(ctx, peer, part)
	if err != nil {
		return nil, err
	}
	if !part {
		w.Contenders = measure.Beside(measure.Idle, measure.Idle)
		if !near {
			w.Contenders = w.Contenders[:1]
		}
		return []measure.Workload{w}, nil
	}
	m, err := NewMail(b, peer, 0, near)
	if err != nil {
		return nil, err
	}
	c := &notifier{Mail: m}
	mine := c.receiver(ctx)
	if m.first {
		mine = c.sender(ctx)
	}
	w.Contenders = []measure.Contender{{Impl: report.ImplGaspi, Batch: mine}}
	if !near {
		return []measure.Workload{w}, nil
	}
	if c.mine, err = b.Flags(b.P.Rank(), limit.WindowFlags, NoteWindow); err != nil {
		return nil, err
	}
	if c.theirs, err = b.Flags(peer, limit.WindowFlags, NoteWindow); err != nil {
		return nil, err
	}
	bare := c.bareReceiver(ctx)
	if m.first {
		bare = c.bareSender(ctx)
	}
	w.Contenders = append(w.Contenders, measure.Contender{Impl: report.ImplLimit, Batch: bare})
	return []measure.Workload{w}, nil
}

// notifier is one end of a series of notifications.
type notifier struct {
	*Mail
	mine, theirs []uint32
}

func (c *notifier) sender(ctx context.Context) func(int) error {
	return c.inTurn(ctx, func(ctx context.Context, v uint32) error {
		for i := range gaspi.NotificationID(NoteWindow) {
			if err := c.q.Notify(c.dst, gaspi.Notification{ID: limit.NoteCount + i, Value: gaspi.Value(v)}); err != nil {
				return err
			}
		}
		return c.q.Wait(ctx)
	}, c.awaitAck)
}

func (c *notifier) receiver(ctx context.Context) func(int) error {
	return c.inTurn(ctx, func(ctx context.Context, v uint32) error {
		for i := range gaspi.NotificationID(NoteWindow) {
			if err := c.b.Seg.WaitUntil(ctx, limit.NoteCount+i, gaspi.Equal, gaspi.Value(v)); err != nil {
				return err
			}
		}
		return nil
	}, c.acknowledge)
}

func (c *notifier) bareSender(ctx context.Context) func(int) error {
	return c.inTurn(ctx, func(_ context.Context, v uint32) error {
		for i := range c.theirs {
			limit.Raise(&c.theirs[i], v)
		}
		return nil
	}, c.awaitFlag)
}

func (c *notifier) bareReceiver(ctx context.Context) func(int) error {
	return c.inTurn(ctx, func(ctx context.Context, v uint32) error {
		for i := range c.mine {
			if err := c.b.Await(ctx, &c.mine[i], v); err != nil {
				return err
			}
		}
		return nil
	}, c.raise)
}
