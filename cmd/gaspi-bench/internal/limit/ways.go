package limit

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A BareCall does a call without the library.
type BareCall = func(context.Context) error

// Ways are the bare ways to do a call where ranks share memory: on vectors that all ranks
// reach, or with plain on vectors of each rank's own, which own are. The function that it
// returns gives back what the ways use.
func (b *Memory) Ways(ctx context.Context, t *collectives.Team, s *CallShape, own Buffers, f Folds, plain bool) ([]BareCall, func(context.Context) error, error) {
	release := func(context.Context) error { return nil }
	if s.Op == schedule.Barrier {
		all, err := NewMeeting(b)
		if err != nil {
			return nil, nil, err
		}
		return []BareCall{all.Exchange}, release, b.clearBoxes(ctx)
	}
	var v *Vectors
	var ways []BareCall
	var err error
	if plain {
		v, ways, release, err = b.plainWays(ctx, t, s, own, f)
	} else {
		v, ways, err = b.sharedWays(s, own, f)
	}
	if err != nil {
		return nil, nil, err
	}
	if s.mailable() {
		mail, err := newMailing(b, 2, v, s.Whole, f)
		if err != nil {
			return nil, nil, err
		}
		ways = append(ways, mail.call)
	}
	return ways, release, b.clearBoxes(ctx)
}

// sharedWays is the ways to do a call on vectors that all ranks reach.
func (b *Memory) sharedWays(s *CallShape, own Buffers, f Folds) (*Vectors, []BareCall, error) {
	v, err := b.Reach(s, own)
	if err != nil {
		return nil, nil, err
	}
	shares, err := newSharing(b, 0, v, s.shares, f)
	if err != nil {
		return nil, nil, err
	}
	ways := []BareCall{shares.call}
	if s.Op == schedule.Broadcast {
		whole, err := newSharing(b, 1, v, s.Whole, f)
		if err != nil {
			return nil, nil, err
		}
		ways = append(ways, whole.call)
	}
	return v, ways, nil
}

// Alone is an allreduce by rank 0, while the others wait.
func (b *Memory) Alone(s *CallShape, own Buffers, f Folds) (BareCall, error) {
	v, err := b.Reach(s, own)
	if err != nil {
		return nil, err
	}
	all := Move{Src: s.contributors(0, s.Ranks-1, 0, s.kept)}
	for r := range s.Ranks {
		all.Dst = append(all.Dst, Piece{r, true, 0, s.kept})
	}
	w, jobs := newWorker(f), v.jobs([]Move{all})
	return func(context.Context) error {
		if b.P.Rank() == 0 {
			w.work(jobs)
		}
		return nil
	}, nil
}
