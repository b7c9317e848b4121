package exchange

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// An end is what all four kinds of servers and workers have alike.
type end struct {
	*board
	cfg     Config
	members *members
	failed  bool // a call has returned an error
}

// newEnd makes an end whose board has room bytes for data. It is collective over all ranks.
func newEnd(ctx context.Context, p *gaspi.Proc, cfg Config, room uint64) (end, error) {
	b, err := newBoard(ctx, p, room)
	if err != nil {
		return end{}, err
	}
	return end{board: b, cfg: cfg, members: watch(p, b.seg, cfg.KeepGoing)}, nil
}

// Workers are the watched ranks that live.
func (e *end) Workers() []gaspi.Rank { return e.members.alive() }

// note takes note of the error of a call, and returns it.
func (e *end) note(err error) error {
	e.failed = e.failed || err != nil
	return err
}

// close ends the exchange by this rank's part in that, and gives back what was taken: before
// the board, what release does, which may be nil. After an error it gives back nothing that
// others may still use.
func (e *end) close(ctx context.Context, part func(context.Context, *members) error, release func(context.Context) error) error {
	var err error
	if !e.failed {
		err = part(ctx, e.members)
	}
	e.members.close()
	if e.failed || err != nil {
		return err
	}
	if release != nil {
		if err := release(ctx); err != nil {
			return err
		}
	}
	return e.board.close()
}
