package collectives

import (
	"context"
	"errors"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
	"github.com/gaspi-go/gaspi-go/internal/nap"
)

// Shrink makes a team of the members that are alive, as MPI_Comm_shrink does, with the
// configuration of this one and its members in the same order. It goes on when the team was
// revoked or had an error; see gaspi.Group.Shrink, which says more. It is collective over the
// members that are alive, and blocks. The new team is in none of the families of
// Config.RevokeWith.
//
// When ctx ends first, the same call again goes on, and Agree is refused until then. The others
// wait for it, as for any member that is alive and does not call Shrink, until it calls again,
// it leaves the job or dies, or their own contexts end; a context that ends at some members or at
// all of them loses nothing. Close gives up a Shrink that ended early at this member alone.
func (t *Team) Shrink(ctx context.Context) (*Team, error) {
	if !t.engine.Enter() {
		return nil, refused("shrink")
	}
	defer t.engine.Leave()
	for {
		next, err := t.shrink(ctx)
		if err != nil {
			return nil, teamError("shrink", err)
		}
		if next != nil {
			return next, nil
		}
	}
}

// shrinking is how far a Shrink has come. The members make a group of those that are alive, a
// team of that, and agree on whether all could; if not, they begin again.
type shrinking struct {
	group *gaspi.Group // nil until there is one
	next  *teamMaker   // of the group
}

// shrink makes a team of those that are alive, or none if some of them died before all had
// it.
func (t *Team) shrink(ctx context.Context) (*Team, error) {
	s := &t.shrinking
	if s.group == nil {
		g, err := t.own.Shrink(ctx)
		if err != nil {
			return nil, err
		}
		s.group, s.next = g, t.makeOf(ctx, g)
	}
	if err := s.next.wait(ctx); err != nil {
		return nil, err
	}
	flags, err := t.own.Agree(ctx, s.next.vote())
	next, wrong := s.next.team, s.next.err
	switch {
	case nap.Ended(err):
		return nil, err
	case err != nil:
		s.giveUp()
		return nil, err
	case flags == made|mayGoOn:
		*s = shrinking{}
		next.scopes.ownsGroup, next.cfg.RevokeWith = true, nil
		return next, nil
	}
	if next != nil {
		_ = next.Close() // its members give it up
	}
	_ = s.group.Delete() // made here
	*s = shrinking{}
	if flags&mayGoOn != 0 {
		return nil, nil
	}
	if wrong == nil || errors.Is(wrong, gaspi.ErrRevoked) {
		wrong = errUnable
	}
	return nil, wrong
}

// giveUp gives up what a Shrink that ended early has made.
func (s *shrinking) giveUp() {
	if s.group == nil {
		return
	}
	s.next.cancel()
	<-s.next.done
	if s.next.team != nil {
		_ = s.next.team.Close() // its members give it up
	}
	agree.GiveUp(s.group, context.Canceled)
	*s = shrinking{}
}

// A teamMaker makes a team in a goroutine, which goes on when the context of a call ends:
// members that have got that far wait for nobody's next call.
type teamMaker struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when team and err are there
	team   *Team
	err    error
}

// makeOf begins to make a team of g with the configuration of this one. ctx gives values alone.
func (t *Team) makeOf(ctx context.Context, g *gaspi.Group) *teamMaker {
	cfg, alive := t.cfg, g.Ranks()
	cfg.RevokeWith = g // so that an error of one member ends the call of all
	cfg.Order = slices.DeleteFunc(slices.Clone(t.ranks), func(r gaspi.Rank) bool { return !slices.Contains(alive, r) })
	m := &teamMaker{done: make(chan struct{})}
	ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(m.done)
		defer m.cancel()
		m.team, m.err = newTeam(ctx, g, cfg)
	}()
	return m
}

// wait blocks until the team was made or cannot be. Its error is that of ctx.
func (m *teamMaker) wait(ctx context.Context) error {
	select {
	case <-m.done: // also if ctx has ended before: calls with such a context go on, too
		return nil
	default:
	}
	if ctx.Err() == nil {
		select {
		case <-m.done:
			return nil
		case <-ctx.Done():
		}
	}
	return &gaspi.OpError{Err: ctx.Err(), Wait: "the members that are alive, to make the new team"}
}

// Flags that members agree on.
const (
	made    = 1 << iota // they have the new team
	mayGoOn             // they can begin again
)

// vote returns what this member tells the others.
func (m *teamMaker) vote() uint32 {
	switch {
	case m.err == nil:
		return made | mayGoOn
	case errors.Is(m.err, gaspi.ErrRankDead), errors.Is(m.err, gaspi.ErrRevoked): // another member says why
		return mayGoOn
	}
	return 0
}
