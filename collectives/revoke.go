package collectives

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
	"github.com/gaspi-go/gaspi-go/internal/nap"
)

// Revoke ends all calls of the team on all members, as MPI_Comm_revoke does: those under
// way and those not yet begun end with an error that matches gaspi.ErrRevoked, and names a
// rank if cause does; see gaspi.Group.Revoke. The same goes for teams that share
// Config.RevokeWith with this one, such as those made by Split of the same team. Agree,
// Shrink and Close go on.
//
// It is no collective call, does not block, and may be called while another goroutine is
// in a call of the team. Team.Revoke of a team that was closed is an error.
func (t *Team) Revoke(cause error) error {
	if !t.revocable.Load() {
		return teamError("revoke", gaspi.ErrClosed)
	}
	g := t.own
	if t.cfg.RevokeWith != nil {
		g = t.cfg.RevokeWith
	}
	if err := g.Revoke(cause); err != nil {
		return teamError("revoke", err)
	}
	return nil
}

// spread revokes g, unless it is nil, so that all teams which name g in RevokeWith end with
// err. It leaves two kinds of error alone: after the end of a context the call can be resumed,
// and when this rank itself ends, the others see its death.
func spread(g *gaspi.Group, err error) {
	mine := nap.Ended(err) || errors.Is(err, gaspi.ErrClosed) || errors.Is(err, gaspi.ErrLauncherLost)
	if g != nil && err != nil && !mine {
		_ = g.Revoke(err) // if it was deleted, nobody waits in it
	}
}

// lost spreads err if it says that a rank was lost, or that the team was revoked. Other
// errors of calls that were not begun leave the teams as they are.
func (t *Team) lost(err error) error {
	if errors.Is(err, gaspi.ErrRankDead) || errors.Is(err, gaspi.ErrRevoked) {
		spread(t.cfg.RevokeWith, err)
	}
	return err
}

// Agree returns the flags that all members have set that are alive, combined by a bitwise
// and, as MPI_Comm_agree does: the same on all of them, whoever dies meanwhile, and also
// when the team was revoked or had an error. See gaspi.Group.Agree, which says more. It is
// collective over the members that are alive, and blocks.
func (t *Team) Agree(ctx context.Context, flags uint32) (uint32, error) {
	if !t.engine.Enter() {
		return 0, refused("agree")
	}
	defer t.engine.Leave()
	if t.closed {
		return 0, teamError("agree", gaspi.ErrClosed)
	}
	if t.shrinking.group != nil {
		return 0, teamError("agree", fmt.Errorf("%w: a Shrink of the team ended early and is to be finished first, by the same call again", gaspi.ErrInUse))
	}
	flags, err := t.own.Agree(ctx, flags)
	if err != nil {
		return 0, teamError("agree", err)
	}
	return flags, nil
}

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
	if t.closed {
		return nil, teamError("shrink", gaspi.ErrClosed)
	}
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
