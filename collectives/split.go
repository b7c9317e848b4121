package collectives

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/collectives/internal/meeting"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
	"github.com/gaspi-go/gaspi-go/internal/nap"
)

// maxSplits is how many Splits of a team are told apart: more than can be under way at the
// members at a time.
const maxSplits = 1 << 16

// Undefined is the colour of members that Split gives no team.
const Undefined = math.MinInt

// Split makes teams of the members of this one, as MPI_Comm_split does: those that pass the
// same color are in one team, numbered by key, and by their number here where keys are
// equal. A member that passes Undefined gets none: nil. The teams have the configuration of
// this one; memory, queue and groups are their own, and Close gives them back.
//
// Unless Config.Independent is set, teams that were split from one team, and those split from
// these, end together: when a call of one of them fails at a member because a rank was lost,
// or for a reason that ends the team, all of them are revoked, and that their calls end with
// an error that names the rank. A member of a team without the dead rank would otherwise
// wait for one that has given up. This team itself goes on as far as it can.
//
// It is collective over all members, and blocks. If some member cannot take part, such as one
// that has no group number left, all get an error, none gets a team, and this team goes on. When
// ctx ends first, this team can only be closed, revoked and shrunk; Revoke ends the Split at the
// members that are still in it.
func (t *Team) Split(ctx context.Context, color, key int) (*Team, error) {
	if !t.engine.Enter() {
		return nil, refused("split")
	}
	defer t.engine.Leave()
	if err := t.between(ctx); err != nil {
		return nil, teamError("split", err)
	}
	if err := t.meet(ctx, meeting.Split, "split", nil); err != nil {
		if nap.Ended(err) {
			t.broken = errSplitting
		}
		return nil, teamError("split", t.lost(err))
	}
	t.broken = errSplitting
	part, err := t.split(ctx, color, key)
	if refusal, ok := errors.AsType[*splitRefusal](err); ok {
		t.broken = nil
		return nil, teamError("split", refusal.why)
	}
	if err != nil {
		spread(t.scopes.family.groupOf(), err) // others may wait for this member in other teams
		return nil, teamError("split", t.lost(err))
	}
	t.broken = nil
	return part, nil
}

func (t *Team) split(ctx context.Context, color, key int) (*Team, error) {
	t.scopes.splits = (t.scopes.splits + 1) % maxSplits
	if err := t.found(ctx); errors.Is(err, gaspi.ErrTooMany) { // on all members
		return nil, &splitRefusal{err}
	} else if err != nil {
		return nil, err
	}
	ranks, err := t.colored(ctx, color, key)
	if err != nil {
		return nil, err
	}
	var g *gaspi.Group
	var wrong error
	if color != Undefined {
		g, wrong = t.own.Subgroup(t.scopes.splits, ranks...)
	}
	// Members of one color wait for each other from here on.
	if err := t.consent(ctx, wrong); err != nil {
		if g != nil {
			_ = g.Delete() // it is new
		}
		return nil, err
	}
	var part *Team
	if g != nil {
		part, wrong = t.make(ctx, g, ranks)
	}
	if losing(wrong) {
		return nil, wrong
	}
	if err := t.consent(ctx, wrong); err != nil {
		if part != nil {
			if losing(err) {
				part.broken = err
			}
			agree.GiveUp(g, err)
			err = errors.Join(err, part.Close())
		}
		return nil, err
	}
	if part == nil {
		return nil, nil
	}
	g.RevokeAlone()
	if err := endWith(g, t.scopes.family.groupOf()); err != nil {
		return nil, errors.Join(err, part.Close())
	}
	part.scopes.ownsGroup, part.cfg.RevokeWith = true, t.scopes.family.groupOf()
	part.scopes.member = t.scopes.family.enter()
	return part, nil
}

// consent makes sure that no member has something against the Split under way. Its error is a
// splitRefusal if one has.
func (t *Team) consent(ctx context.Context, wrong error) error {
	err := t.meet(ctx, meeting.Split, "split", wrong)
	if err != nil && (wrong != nil && errors.Is(err, wrong) || errors.Is(err, errUnable)) {
		return &splitRefusal{err}
	}
	return err
}

// losing reports whether err says that this member or another one gives up, so that members do not
// get the same error.
func losing(err error) bool {
	for _, one := range []error{gaspi.ErrRankDead, gaspi.ErrRevoked, gaspi.ErrClosed, gaspi.ErrLauncherLost} {
		if errors.Is(err, one) {
			return true
		}
	}
	return nap.Ended(err)
}

// A splitRefusal is the error of a Split in which some member cannot take part, as all know.
type splitRefusal struct{ why error }

func (r *splitRefusal) Error() string { return r.why.Error() }

// A revocationScope holds the teams of a rank that are revoked together.
type revocationScope struct {
	group *gaspi.Group // that is revoked then
	own   bool         // it was made for them, and the last one deletes it
	teams atomic.Int32
}

// groupOf is the group of a family, nil if there is none.
func (f *revocationScope) groupOf() *gaspi.Group {
	if f == nil {
		return nil
	}
	return f.group
}

// enter counts one team more, of a family that may be nil.
func (f *revocationScope) enter() *revocationScope {
	if f != nil {
		f.teams.Add(1)
	}
	return f
}

// leave counts one team less, of a family that may be nil.
func (f *revocationScope) leave() error {
	if f == nil || f.teams.Add(-1) > 0 || !f.own {
		return nil
	}
	return f.group.Delete()
}

// scopes holds the groups that a team is revoked and deleted with.
type scopes struct {
	ownsGroup bool             // the group of the team was made for it
	member    *revocationScope // that the team was split into; nil if it was not
	family    *revocationScope // of teams that are split from this one; nil before the first Split
	splits    gaspi.Tag        // how many Splits have begun, modulo maxSplits; alike on all members
}

// found makes the family of teams that are split from this one, which is that of this
// team itself if it is in one.
func (t *Team) found(ctx context.Context) error {
	switch {
	case t.cfg.Independent || t.scopes.family != nil:
		return nil
	case t.scopes.member != nil:
		t.scopes.family = t.scopes.member.enter()
		return nil
	case t.cfg.RevokeWith != nil:
		t.scopes.family = (&revocationScope{group: t.cfg.RevokeWith}).enter()
		return nil
	}
	g, err := agree.Private(ctx, t.own, agree.Teams, 0)
	if err == nil {
		t.scopes.family = (&revocationScope{group: g, own: true}).enter()
	}
	return err
}

// colored are the members of a color, by their number in the new team.
func (t *Team) colored(ctx context.Context, color, key int) ([]gaspi.Rank, error) {
	said := make([]int64, 2*len(t.ranks))
	said[2*t.me], said[2*t.me+1] = int64(color), int64(key)
	if err := agree.AllReduce(ctx, t.own, said, gaspi.Sum); err != nil {
		return nil, err
	}
	var members []int
	for i := range t.ranks {
		if said[2*i] == int64(color) {
			members = append(members, i)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(said[2*a+1], said[2*b+1]) })
	ranks := make([]gaspi.Rank, len(members))
	for i, m := range members {
		ranks[i] = t.ranks[m]
	}
	return ranks, nil
}

// make makes a team of ranks with a new group of these, which ends with this one: a member whose
// context has ended gives this team up, and others wait for it in calls of the new one.
func (t *Team) make(ctx context.Context, g *gaspi.Group, ranks []gaspi.Rank) (*Team, error) {
	cfg := t.cfg
	cfg.RevokeWith, cfg.Order = g, ranks
	err := endWith(g, t.own, t.scopes.family.groupOf())
	if err == nil {
		err = g.Commit(ctx)
	}
	var part *Team
	if err == nil {
		part, err = newTeam(ctx, g, cfg)
	}
	if err != nil {
		agree.GiveUp(g, err)
		return nil, err
	}
	return part, nil
}

// endWith makes g end with other groups, but for those that are nil.
func endWith(g *gaspi.Group, others ...*gaspi.Group) error {
	for _, other := range others {
		if other == nil {
			continue
		}
		if err := g.RevokeWith(other); err != nil {
			return err
		}
	}
	return nil
}
