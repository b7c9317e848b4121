package exchange

import (
	"context"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// elementSize is the size of a float32 in bytes.
const elementSize = 4

// A directServer moves every vector between itself and one worker.
//
//	segment of rank 0:   | parameters | Turns: one contribution; Eager: one per rank |
//	segment of a worker: | parameters | its contribution                              |
type directServer struct {
	directEnd
	sum     []float32
	version ticket
	last    gaspi.Rank   // whose contribution was taken last
	claimed gaspi.Rank   // who is not ready any more, but was not taken from yet; rank 0 is nobody
	owed    []gaspi.Rank // who gets the next parameters
}

// A directEnd is what a directServer and a directWorker have alike.
type directEnd struct {
	end
	params []float32
	rest   []float32 // behind them, in the same segment
}

func newDirectEnd(ctx context.Context, p *gaspi.Proc, cfg Config) (directEnd, error) {
	e, err := newEnd(ctx, p, cfg, cfg.room(p))
	if err != nil {
		return directEnd{}, err
	}
	all, err := gaspi.View[float32](e.seg, 0, int(cfg.room(p)/elementSize))
	if err != nil {
		return directEnd{}, err
	}
	return directEnd{end: e, params: all[:cfg.Params], rest: all[cfg.Params:]}, nil
}

// slots is how many contributions fit into the segment of this rank.
func (cfg *Config) slots(p *gaspi.Proc) int {
	if cfg.Way == Eager && p.Rank() == server {
		return p.Size()
	}
	return 1
}

// slot is where rank r's contribution goes at rank 0, in bytes.
func (cfg *Config) slot(r gaspi.Rank) uint64 {
	at := uint64(cfg.Params)
	if cfg.Way == Eager {
		at += uint64(r) * uint64(cfg.Contribution)
	}
	return at * elementSize
}

func (cfg *Config) room(p *gaspi.Proc) uint64 {
	return elementSize * (uint64(cfg.Params) + uint64(cfg.slots(p))*uint64(cfg.Contribution))
}

func newDirectServer(ctx context.Context, p *gaspi.Proc, cfg Config) (*directServer, error) {
	end, err := newDirectEnd(ctx, p, cfg)
	if err != nil {
		return nil, err
	}
	s := &directServer{directEnd: end}
	s.owed = s.members.alive()
	return s, nil
}

// Publish writes to one worker after the other.
func (s *directServer) Publish(ctx context.Context, params []float32) error {
	copy(s.params, params)
	s.version++
	sent := map[gaspi.Rank]bool{} // a second ticket would be taken for that of the next version
	err := s.members.each(ctx, func(ctx context.Context, r gaspi.Rank) error {
		if !s.owes(r) {
			return nil
		}
		if !sent[r] {
			sent[r] = true
			err := s.send(s.seg.At(r, 0), 0, uint64(len(params))*elementSize, gaspi.Notification{ID: ticketID, Value: s.version})
			if err != nil {
				return err
			}
		}
		return s.queue.Wait(ctx)
	})
	return s.note(err)
}

func (s *directServer) Sum(ctx context.Context, use func(sum []float32, from []gaspi.Rank)) error {
	if s.sum == nil {
		s.sum = make([]float32, s.cfg.Contribution)
	}
	clear(s.sum)
	err := s.Each(ctx, func(contribution []float32, _ gaspi.Rank) {
		for i, x := range contribution {
			s.sum[i] += x
		}
	})
	if err == nil {
		use(s.sum, s.owed)
	}
	return err
}

func (s *directServer) Each(ctx context.Context, use func(contribution []float32, from gaspi.Rank)) error {
	s.owed = nil
	err := s.members.with(ctx, func(ctx context.Context, live []gaspi.Rank) error {
		live = slices.DeleteFunc(live, s.owes)
		// Contributions of workers that have died since count all the same.
		for len(live) > 0 && len(s.owed) < s.cfg.Quorum(len(live)+len(s.owed)) {
			r, err := s.next(ctx, live)
			if err != nil {
				return err
			}
			contribution, err := s.contribution(ctx, r)
			if err != nil {
				return err
			}
			s.owed, s.claimed = append(s.owed, r), server
			live = slices.DeleteFunc(live, s.owes)
			use(contribution, r)
		}
		return nil
	})
	slices.Sort(s.owed)
	return s.note(err)
}

func (s *directServer) owes(r gaspi.Rank) bool { return slices.Contains(s.owed, r) }

// next waits for a worker that has contributed. It begins to look behind the last one, so
// that a fast worker does not keep others from being taken.
func (s *directServer) next(ctx context.Context, live []gaspi.Rank) (gaspi.Rank, error) {
	if slices.Contains(live, s.claimed) {
		return s.claimed, nil // a death came between
	}
	behind, _ := slices.BinarySearch(live, s.last+1)
	order := slices.Concat(live[behind:], live[:behind])
	at := -1
	err := s.seg.WaitFunc(ctx, func() bool {
		at = slices.IndexFunc(order, func(r gaspi.Rank) bool { return s.seg.Peek(s.readyID(r)) != 0 })
		return at >= 0
	}, gaspi.ThroughLosses)
	if err != nil {
		return 0, err
	}
	s.last, s.claimed = order[at], order[at]
	_, err = s.seg.Reset(s.readyID(s.last))
	return s.last, err
}

// contribution is rank r's, which is fetched unless it is here already.
func (s *directServer) contribution(ctx context.Context, r gaspi.Rank) ([]float32, error) {
	at := s.cfg.slot(r)
	if s.cfg.Way == Turns {
		size := uint64(s.cfg.Contribution) * elementSize
		if err := s.fetch(at, s.seg.At(r, at), size); err != nil {
			return nil, err
		}
		if err := s.queue.Wait(ctx); err != nil {
			return nil, err
		}
	}
	return gaspi.View[float32](s.seg, at, s.cfg.Contribution)
}

func (s *directServer) Close(ctx context.Context) error { return s.close(ctx, s.finish, nil) }
