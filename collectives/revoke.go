package collectives

import (
	"context"
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
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
	if t.shrinking.group != nil {
		return 0, teamError("agree", fmt.Errorf("%w: a Shrink of the team ended early and is to be finished first, by the same call again", gaspi.ErrInUse))
	}
	flags, err := t.own.Agree(ctx, flags)
	if err != nil {
		return 0, teamError("agree", err)
	}
	return flags, nil
}
