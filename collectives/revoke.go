package collectives

import (
	"context"
	"errors"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
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
	mine := ctxErr(err) || errors.Is(err, gaspi.ErrClosed) || errors.Is(err, gaspi.ErrLauncherLost)
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
	if !t.enter() {
		return 0, refused("agree")
	}
	defer t.leave()
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
// Config.RevokeWith. When ctx ends first, the team can only be closed.
func (t *Team) Shrink(ctx context.Context) (*Team, error) {
	if !t.enter() {
		return nil, refused("shrink")
	}
	defer t.leave()
	for {
		next, err := t.shrink(ctx)
		if next != nil || err != nil {
			if err != nil {
				err = teamError("shrink", err)
			}
			return next, err
		}
	}
}

// shrink makes a team of those that are alive, or none if some of them died before all had
// it.
func (t *Team) shrink(ctx context.Context) (*Team, error) {
	g, err := t.own.Shrink(ctx)
	if err != nil {
		return nil, err
	}
	cfg := t.cfg
	cfg.RevokeWith = g // so that an error of one member ends the call of all
	cfg.Order = slices.DeleteFunc(slices.Clone(t.ranks), func(r gaspi.Rank) bool { return !slices.Contains(g.Ranks(), r) })
	next, wrong := newTeam(ctx, g, cfg)
	const made, mayGoOn = 1, 2
	flags := uint32(made | mayGoOn)
	switch {
	case ctxErr(wrong):
		return nil, wrong
	case errors.Is(wrong, gaspi.ErrRankDead):
		flags = mayGoOn
	case errors.Is(wrong, gaspi.ErrRevoked):
		flags = mayGoOn // another member says why
	case wrong != nil:
		flags = 0
	}
	flags, err = t.own.Agree(ctx, flags)
	switch {
	case err != nil:
		return nil, err
	case flags == made|mayGoOn:
		next.scopes.ownsGroup, next.cfg.RevokeWith = true, nil
		return next, nil
	}
	if next != nil {
		_ = next.Close() // its members give it up
	}
	_ = g.Delete() // made here
	if flags&mayGoOn == 0 {
		if wrong == nil || errors.Is(wrong, gaspi.ErrRevoked) {
			wrong = errUnable
		}
		return nil, wrong
	}
	return nil, nil
}
