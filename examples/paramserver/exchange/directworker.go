package exchange

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A directWorker is the other side of a directServer.
type directWorker struct{ directEnd }

func newDirectWorker(ctx context.Context, p *gaspi.Proc, cfg Config) (*directWorker, error) {
	end, err := newDirectEnd(ctx, p, cfg)
	if err != nil {
		return nil, err
	}
	return &directWorker{end}, nil
}

func (w *directWorker) Fetch(ctx context.Context, use func(params []float32)) (bool, error) {
	var got ticket
	err := w.members.with(ctx, func(ctx context.Context, _ []gaspi.Rank) (err error) {
		got, err = w.take(ctx, ticketID)
		return err
	})
	if w.note(err) != nil || got == noMore {
		return false, err
	}
	use(w.params)
	return true, nil
}

func (w *directWorker) Contribute(ctx context.Context, contribution []float32) error {
	copy(w.rest, contribution)
	err := w.members.with(ctx, func(ctx context.Context, _ []gaspi.Rank) error {
		ready := gaspi.Notification{ID: w.readyID(w.p.Rank()), Value: 1}
		size := uint64(len(contribution)) * elementSize
		if w.cfg.Way == Turns {
			size = 0 // rank 0 fetches it
		}
		if err := w.send(w.seg.At(server, w.cfg.slot(w.p.Rank())), uint64(w.cfg.Params)*elementSize, size, ready); err != nil {
			return err
		}
		return w.queue.Wait(ctx)
	})
	return w.note(err)
}

func (w *directWorker) Close(ctx context.Context) error { return w.close(ctx, w.leave, nil) }
