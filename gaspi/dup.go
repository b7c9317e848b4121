package gaspi

import (
	"context"
	"fmt"
	"slices"

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
	if err := g.turns.enter(ctx, turnDup|turnKey(tag), fmt.Sprintf("group_dup with tag %d", tag)); err != nil {
		return nil, g.wrap("group_dup", err)
	}
	d, there := g.turns.work.(*dupWork)
	if !there {
		count := g.p.cfg.Groups
		d = &dupWork{newDraw(&groupPool{g.p}, count, fmt.Sprintf("group number of the %d of Config.Groups", count))}
		g.turns.work = d
	}
	ended, err := d.run(ctx, g)
	var least notify.Value
	if err == nil { // the tag of the new group is the highest that the place has on a member
		least, err = d.ballot(ctx, g, notify.Value(lastTag+1-g.p.groups.at(d.number).tag))
	}
	if err != nil {
		g.turns.leave(ended)
		return nil, g.wrap("group_dup", err)
	}
	// Everybody has reserved the number and cleared its slots. Others may write to
	// them from now on.
	n, tells := len(g.ranks), lastTag+1-uint32(least)
	dup := g.p.groups.at(d.number)
	dup.ranks = slices.Clone(g.ranks)
	dup.open(g.me, slices.Repeat([]int{d.number}, n), slices.Repeat([]uint32{tells}, n))
	dup.committed.Store(true)
	g.p.groups.drawn(d.number, tells)
	g.p.heed(d.number)
	g.turns.leave(true)
	return dup, nil
}

// dupWork is how far a Dup has come.
type dupWork struct{ *draw }

// giveUp gives back the number, unless others may have made the group already: they write to
// its slots, which must not become those of another group.
func (w *dupWork) giveUp() {
	if !w.found {
		w.draw.giveUp()
	}
}

// check returns an error for a tag that is too large.
func (t Tag) check() error {
	if t >= 1<<tagBits {
		return fmt.Errorf("%w: tag %d; want less than %d", ErrOutOfRange, t, 1<<tagBits)
	}
	return nil
}

// wrap is error for one that may say already whom the group was waiting for.
func (g *Group) wrap(op string, err error) error {
	if inner, ok := err.(*OpError); ok {
		return &OpError{Op: op, At: g.String(), Err: inner.Err, Wait: inner.Wait}
	}
	return g.error(op, err)
}

// groupPool reserves numbers of groups.
type groupPool struct{ p *Proc }

// reserve implements pool. Nobody writes to the slots of a number that is free.
func (pool *groupPool) reserve(limit int, hop func() int) int {
	i := pool.p.groups.reserve(pool.p, limit, hop)
	if i >= 0 {
		pool.p.clearGroup(i)
	}
	return i
}

// release implements pool.
func (pool *groupPool) release(i int) { pool.p.groups.give(pool.p.groups.at(i)) }

// clearGroup clears the slots of a group.
func (p *Proc) clearGroup(index int) {
	first := p.lay.groupSlot(index)
	for i := range p.lay.slotsOfGroup() {
		_, _ = p.system.Notifications().Reset(first + notify.ID(i)) // the id is on the array by layout
	}
}
