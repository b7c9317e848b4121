package gaspi

import (
	"context"
	"fmt"
)

// shrinking is how far a Shrink of a group has come. The members agree on who is alive,
// make a group of those, and agree on whether all could; if not, they begin again. The
// state belongs to the holder of consent.busy.
type shrinking struct {
	active bool
	stage  shrinkStage
	next   *Group // reserved, and nil if this member got no group number
	able   error  // why it got none
	window int    // the first member of those that are being agreed on
	alive  []Rank // of those before
	wrong  error  // why next was not committed
}

type shrinkStage int

const (
	counting   shrinkStage = iota // who is alive
	committing                    // the group of these
	concluding                    // whether all could
)

// windowBits is how many members one agreement tells of. The flag above says that a member
// has a number for the new group.
const (
	windowBits = 30
	ableFlag   = 1 << windowBits
)

// Shrink makes a group of the members that are alive, committed and ready for use, as
// MPI_Comm_shrink does. All that return a group have one of the same ranks. It goes on when
// the group is revoked, which makes sure that all members come here: revoke it first. One
// that dies late may still be in the new group.
//
// It is collective over the members that are alive, and blocks. It takes some agreements;
// see Agree, also for members that have lost each other. When ctx ends first, the same call
// again goes on. If a member has no group number left, all get ErrTooMany.
func (g *Group) Shrink(ctx context.Context) (*Group, error) {
	if err := g.made("group_shrink"); err != nil {
		return nil, err
	}
	if !g.consent.busy.CompareAndSwap(false, true) {
		return nil, g.error("group_shrink", fmt.Errorf("%w: Agree or Shrink of the group is under way in another goroutine", ErrInUse))
	}
	defer g.consent.busy.Store(false)
	s := &g.shrink
	if !s.active && g.consent.active && g.consent.broken == nil {
		return nil, g.error("group_shrink", fmt.Errorf("%w: an Agree of the group ended early and is to be finished first", ErrInUse))
	}
	for {
		done, err := s.step(ctx, g)
		if err != nil {
			if !isTimeLimit(err) {
				s.drop()
			}
			return nil, g.wrap("group_shrink", err)
		}
		if done {
			next := s.next
			*s = shrinking{}
			return next, nil
		}
	}
}

// step does one stage, or a part of it.
func (s *shrinking) step(ctx context.Context, g *Group) (done bool, err error) {
	switch s.stage {
	case counting:
		return false, s.count(ctx, g)
	case committing:
		err := s.next.Commit(ctx)
		if isTimeLimit(err) {
			return false, err
		}
		s.wrong, s.stage = err, concluding
		return false, nil
	}
	flags := uint32(0)
	if s.wrong == nil {
		flags = 1
	}
	flags, err = g.consent.run(ctx, flags)
	if err != nil || flags == 1 {
		s.next.also = nil
		return err == nil, err
	}
	s.drop()
	return false, nil
}

// count agrees on who of the next members is alive, and makes a group when all were asked.
func (s *shrinking) count(ctx context.Context, g *Group) error {
	if !s.active {
		*s = shrinking{active: true}
		s.next, s.able = g.p.NewGroup()
		if s.able == nil {
			s.next.scope = g.scopeOf(shrinkCall, 0)
		}
	}
	members := g.ranks[s.window:]
	members = members[:min(len(members), windowBits)]
	flags := uint32(0)
	for i, r := range members {
		if !g.p.peers.At(r).HasEnded() {
			flags |= 1 << i
		}
	}
	if s.able == nil {
		flags |= ableFlag
	}
	flags, err := g.consent.run(ctx, flags)
	switch {
	case err != nil:
		return err
	case s.able != nil:
		return s.able
	case flags&ableFlag == 0:
		return fmt.Errorf("%w: another member has no group number left", ErrTooMany)
	}
	for i, r := range members {
		if flags&(1<<i) != 0 {
			s.alive = append(s.alive, r)
		} else if r == g.p.rank {
			return &RankError{Rank: r, Reason: "it is this rank, and the launcher has told the other members that it ended"}
		}
	}
	if s.window += len(members); s.window < len(g.ranks) {
		return nil
	}
	for _, r := range s.alive {
		if err := s.next.Add(r); err != nil {
			return err
		}
	}
	s.next.also = func() error { return g.thinner(s.alive) }
	s.stage = committing
	return nil
}

// thinner is why a group of ranks that is being made cannot be: one of them has ended,
// or the members cannot agree any more.
func (g *Group) thinner(ranks []Rank) error {
	if err := g.p.peers.FirstLeft(ranks); err != nil {
		return err
	}
	if x, is := g.consent.apart(); is {
		return g.consent.why(x)
	}
	return nil
}

// drop gives up what was made, so that the next step begins anew.
func (s *shrinking) drop() {
	if s.next != nil {
		_ = s.next.Delete() // made here
	}
	*s = shrinking{}
}
