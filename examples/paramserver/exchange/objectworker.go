package exchange

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// An objectWorker is the other side of an objectServer.
type objectWorker struct {
	objectEnd
	turn int // which contribution this rank makes
}

func newObjectWorker(ctx context.Context, p *gaspi.Proc, cfg Config) (*objectWorker, error) {
	e, err := newObjectEnd(ctx, p, cfg)
	if err != nil {
		return nil, err
	}
	return &objectWorker{objectEnd: e}, nil
}

// Fetch waits for the ticket, and then for the parameters. That there is a ticket means
// that the last contribution was taken, or will be before the parameters come.
func (w *objectWorker) Fetch(ctx context.Context, use func(params []float32)) (bool, error) {
	var (
		got    ticket
		params *hoplite.Ref[float32]
	)
	err := w.members.with(ctx, func(ctx context.Context, _ []gaspi.Rank) (err error) {
		if got == 0 {
			if got, err = w.board.take(ctx, ticketID); err != nil || got == noMore {
				return err
			}
		}
		params, err = hoplite.GetReadOnly[float32](ctx, w.store, paramsID(got))
		return err
	})
	if w.note(err) != nil || got == noMore {
		return false, err
	}
	if w.turn > 0 {
		w.reaper.delete(contributionID(w.board.p.Rank(), w.turn-1))
	}
	use(params.Data())
	params.Release()
	return true, nil
}

func (w *objectWorker) Contribute(ctx context.Context, contribution []float32) error {
	id := contributionID(w.board.p.Rank(), w.turn)
	w.turn++
	err := w.members.with(ctx, func(ctx context.Context, _ []gaspi.Rank) error {
		return hoplite.Put(ctx, w.store, id, contribution)
	})
	return w.note(err)
}

func (w *objectWorker) Close(ctx context.Context) error { return w.close(ctx, w.leave) }
