package exchange

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// Objects have these names. A worker's n-th contribution is taken once, by the sum that
// names it. A version of the parameters is what the tickets of its readers say.
func contributionID(r gaspi.Rank, n int) string { return fmt.Sprintf("contribution/%d/%d", r, n) }
func sumID(n int) string                        { return fmt.Sprintf("sum/%d", n) }
func paramsID(version ticket) string            { return fmt.Sprintf("params/%d", version) }

// An objectEnd is what an objectServer and an objectWorker have alike.
type objectEnd struct {
	end
	store  *hoplite.Store
	reaper *reaper
}

// newObjectEnd opens a store with room for all that may exist at a time, and an end beside it.
func newObjectEnd(ctx context.Context, p *gaspi.Proc, cfg Config) (objectEnd, error) {
	e, err := newEnd(ctx, p, cfg, 1)
	if err != nil {
		return objectEnd{}, err
	}
	// Rank 0 may hold a version of the parameters for every worker, if each reads another
	// one, one that it makes and one that is being deleted; and all contributions, if it looks
	// at each. A worker holds its own and the last one, and what is passed on through it.
	held := int64(p.Size() + 4)
	rounded := func(count int) int64 { return int64(count)*elementSize + 4096 }
	capacity := held * (rounded(cfg.Params) + rounded(cfg.Contribution))
	s, err := hoplite.Open(ctx, p.World(), hoplite.Config{Capacity: capacity, Chunk: cfg.Chunk})
	if err != nil {
		e.members.close()
		return objectEnd{}, err
	}
	return objectEnd{end: e, store: s, reaper: newReaper(s)}, nil
}

func (e *objectEnd) close(ctx context.Context, part func(context.Context, *members) error) error {
	defer e.reaper.close()
	return e.end.close(ctx, part, e.store.Close)
}

// An objectServer is rank 0's side with a store.
type objectServer struct {
	objectEnd
	version ticket                // of the parameters that were published last
	sums    int                   // that were begun
	given   map[gaspi.Rank]ticket // which version a worker was given last; 0 before
	turn    map[gaspi.Rank]int    // which of its contributions a worker makes
	owed    []gaspi.Rank          // who gets the next version
	told    map[gaspi.Rank]bool   // of them, who knows it
}

func newObjectServer(ctx context.Context, p *gaspi.Proc, cfg Config) (*objectServer, error) {
	e, err := newObjectEnd(ctx, p, cfg)
	if err != nil {
		return nil, err
	}
	s := &objectServer{objectEnd: e, given: map[gaspi.Rank]ticket{}, turn: map[gaspi.Rank]int{}, told: map[gaspi.Rank]bool{}}
	s.owed = s.members.alive()
	return s, nil
}

// tell gives workers the ticket of the version that is about to be published. They begin to
// ask for it at once, and so get its first bytes as soon as there are any. Only who has
// contributed since has taken the last ticket: another one would overwrite it.
func (s *objectServer) tell(ctx context.Context) error {
	return s.members.each(ctx, func(ctx context.Context, r gaspi.Rank) error {
		if !slices.Contains(s.owed, r) || s.told[r] {
			return nil
		}
		s.told[r] = true
		return s.board.tell(ctx, r, ticketID, s.version+1)
	})
}

func (s *objectServer) Publish(ctx context.Context, params []float32) error {
	if err := s.note(s.tell(ctx)); err != nil {
		return err
	}
	err := s.members.with(ctx, func(ctx context.Context, _ []gaspi.Rank) error {
		return hoplite.Put(ctx, s.store, paramsID(s.version+1), params)
	})
	if s.note(err) != nil {
		return err
	}
	s.version++
	s.retire()
	return nil
}

// retire deletes versions that nobody reads any more: who was given another one has read
// its last one, since it has contributed with it.
func (s *objectServer) retire() {
	before := slices.Collect(maps.Values(s.given))
	for r := range s.told {
		s.given[r] = s.version
	}
	clear(s.told)
	s.owed = nil
	live := s.members.alive()
	for r := range s.given {
		if !slices.Contains(live, r) {
			delete(s.given, r)
			s.reaper.delete(contributionID(r, s.turn[r]))
		}
	}
	after := slices.Collect(maps.Values(s.given))
	slices.Sort(before)
	for _, v := range slices.Compact(before) {
		if !slices.Contains(after, v) {
			s.reaper.delete(paramsID(v))
		}
	}
}

// sources are the contributions that live workers make or have made, one of each.
func (s *objectServer) sources(live []gaspi.Rank) (ids []string, owner map[string]gaspi.Rank) {
	owner = map[string]gaspi.Rank{}
	for _, r := range live {
		id := contributionID(r, s.turn[r])
		ids = append(ids, id)
		owner[id] = r
	}
	return ids, owner
}

func (s *objectServer) Sum(ctx context.Context, use func(sum []float32, from []gaspi.Rank)) error {
	var (
		from   []gaspi.Rank
		target string
	)
	err := s.members.with(ctx, func(ctx context.Context, live []gaspi.Rank) error {
		ids, owner := s.sources(live)
		target = sumID(s.sums)
		s.sums++
		of, err := hoplite.ReduceFirst[float32](ctx, s.store, target, ids, s.cfg.Quorum(len(live)), hoplite.Sum)
		for _, id := range of {
			from = append(from, owner[id])
		}
		return err
	})
	var sum *hoplite.Ref[float32]
	if err == nil {
		sum, err = hoplite.GetReadOnly[float32](ctx, s.store, target)
	}
	if s.note(err) != nil {
		return err
	}
	s.taken(from)
	use(sum.Data(), from)
	sum.Release()
	s.reaper.delete(target)
	return nil
}

// taken notes whose contributions were taken. They get the next version, and then delete
// what they contributed.
func (s *objectServer) taken(from []gaspi.Rank) {
	for _, r := range from {
		s.turn[r]++
	}
	s.owed = append(s.owed, from...)
}

func (s *objectServer) Each(ctx context.Context, use func(contribution []float32, from gaspi.Rank)) error {
	var taken []gaspi.Rank
	had := func(r gaspi.Rank) bool { return slices.Contains(taken, r) }
	err := s.members.with(ctx, func(ctx context.Context, live []gaspi.Rank) error {
		live = slices.DeleteFunc(live, had)
		for len(live) > 0 && len(taken) < s.cfg.Quorum(len(live)+len(taken)) {
			ids, owner := s.sources(live)
			id, err := s.store.Wait(ctx, ids...)
			if err != nil {
				return err
			}
			got, err := hoplite.GetReadOnly[float32](ctx, s.store, id)
			if err != nil {
				return err
			}
			taken = append(taken, owner[id])
			live = slices.DeleteFunc(live, had)
			use(got.Data(), owner[id])
			got.Release()
		}
		return nil
	})
	s.taken(taken)
	return s.note(err)
}

func (s *objectServer) Close(ctx context.Context) error { return s.close(ctx, s.finish) }
