package gaspi

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/turns"
	"github.com/gaspi-go/gaspi-go/notify"
)

// Dup makes another group of the same ranks, committed and ready for use, as
// MPI_Comm_dup does: what is called over one of the two has nothing to do with what is
// called over the other. It is collective over the members of g and blocks. It takes a
// group number that is free on all members; if there is none, all get ErrTooMany.
//
// Several goroutines of a rank may call it at a time over one group, with different
// tags, in any order at each member. Calls with one tag match by their order. When ctx
// ends first, the same call again goes on; until then other calls of Dup and
// CreateSegment over g wait, or end when g is revoked. A group number that other members may have made
// the group of by then stays taken.
func (g *Group) Dup(ctx context.Context, tag Tag) (*Group, error) {
	if err := g.ready("group_dup"); err != nil {
		return nil, err
	}
	if err := tag.check(); err != nil {
		return nil, g.error("group_dup", err)
	}
	if err := g.turns.enter(ctx, turnDup|turns.CallKey(tag), fmt.Sprintf("group_dup with tag %d", tag)); err != nil {
		return nil, g.wrap("group_dup", err)
	}
	d, there := g.turns.Work.(*dupWork)
	if !there {
		count := g.p.cfg.Groups
		d = &dupWork{g.p.newDraw(groupPool{g.p}, count, fmt.Sprintf("group number of the %d of Config.Groups", count))}
		g.turns.Work = d
	}
	ended, err := d.run(ctx, g)
	var least notify.Value
	if err == nil { // the tag of the new group is the highest that the place has on a member
		least, err = g.castBallot(ctx, notify.Value(lastTag+1-nextTag(g.p.tags[d.Number()])))
	}
	if err != nil {
		g.turns.leave(ended)
		return nil, g.wrap("group_dup", err)
	}
	// Everybody has reserved the number and cleared its slots. Others may write to
	// them from now on.
	n, place, tells := len(g.ranks), d.Number(), lastTag+1-uint32(least)
	dup, err := g.p.groups.Put(place, true, func() (*Group, error) {
		g.p.tags[place] = tells
		dup := &Group{p: g.p, index: place, tag: tells, ranks: slices.Clone(g.ranks)}
		dup.open(g.me, slices.Repeat([]int{place}, n), slices.Repeat([]uint32{tells}, n))
		dup.committed.Store(true)
		return dup, nil
	})
	if err != nil {
		panic(err) // the number is reserved here
	}
	d.GiveUp() // the number is the group's
	g.p.heed(place)
	g.turns.leave(true)
	return dup, nil
}

// dupWork is how far a Dup has come.
type dupWork struct{ *draw }

// giveUp gives back the number, unless others may have made the group already: they write to
// its slots, which must not become those of another group.
func (w *dupWork) giveUp() {
	if !w.Found() {
		w.GiveUp()
	}
}

// groupPool reserves numbers of groups.
type groupPool struct{ *Proc }

// Reserve implements numbers.Pool. Nobody writes to the slots of a number that is free.
func (pool groupPool) Reserve(limit int, hop func() int) int {
	i := pool.groups.Reserve(limit, hop)
	if i >= 0 {
		pool.clearGroup(i)
	}
	return i
}

// Release implements numbers.Pool.
func (pool groupPool) Release(i int) { pool.groups.Release(i) }

// Subgroup is NewGroup for members of g. The new group's Commit matches Commits of groups
// that others have made from g with the same tag and of the same ranks, and no other Commit,
// as in MPI_Comm_create_group: groups of equal ranks that are made from different groups, or
// with different tags, may be committed by several goroutines at a time, in any order at
// each member, and a Commit that has ended early blocks none of another scope. Commits of
// one tag and equal ranks match by their order, and wait for each other. Subgroup is local
// and does not block; g must be committed. Group.Delete of g leaves the new group as it is.
func (g *Group) Subgroup(tag Tag, ranks ...Rank) (*Group, error) {
	if err := g.made("group_subgroup"); err != nil {
		return nil, err
	}
	if err := tag.check(); err != nil {
		return nil, g.error("group_subgroup", err)
	}
	for _, r := range ranks {
		if _, member := slices.BinarySearch(g.ranks, r); !member {
			return nil, g.error("group_subgroup", fmt.Errorf("%w: rank %d is no member of the group", ErrBadRank, r))
		}
	}
	sub, err := g.p.NewGroup(ranks...)
	if err == nil {
		sub.scope = g.scopeOf(subgroupCall, tag)
	}
	return sub, err
}
