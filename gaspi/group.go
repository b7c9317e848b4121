package gaspi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/topology"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/turns"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// A Group is a set of ranks that act together. Ranks in it are kept in ascending
// order. Barriers of one group must come in the same order on all its members, and
// so must its reductions, each from one goroutine at a time; a second one gets
// ErrInUse. A barrier, a reduction, creations of segments and Dups may be under way
// at the same time. Goroutines that must not wait for each other use a group each,
// made by Dup.
//
// A group's number is local: members need not agree on it, deleting a group
// renumbers no other, and two groups may have the same ranks.
type Group struct {
	p     *Proc
	index int    // of the group's slots in the system segment of this rank
	tag   uint32 // tells it from others that have had the place
	scope scope  // of Commit; constant once it has begun

	mu        sync.Mutex
	ranks     []Rank // guarded by mu until committed, then constant; ascending
	committed atomic.Bool
	deleted   atomic.Bool

	revocation revocation

	// Constant once committed.
	me      int // index of this rank in ranks
	near    topology.Tree
	indexOf []int    // index is the member; the group's index there
	tagOf   []uint32 // index is the member; the group's tag there

	commit   *commitState // set under mu; nil unless a commit is under way; else ranks are constant
	commits  atomic.Bool  // somebody is in Commit
	barrier  *barrier
	internal *barrier    // of collective calls of package gaspi itself
	ballot   *ballot     // likewise
	turns    *groupTurns // of those calls
	vector   *vectorOp
	consent  *agreement
	shrink   shrinking
	also     func() error // one more reason for over, or nil

	key atomic.Uint32 // by which timelines call it; 0 until one does
}

// NewGroup makes a group of ranks in any order, without Commit: it can be
// changed by Add and not yet used. It is local and does not block. With no
// ranks it is empty. A rank given twice is an error.
func (p *Proc) NewGroup(ranks ...Rank) (*Group, error) {
	g := p.groups.Add(p.newGroup)
	if g == nil {
		return nil, &OpError{Op: "group_create", Err: fmt.Errorf("%w: Config.Groups is %d", ErrTooMany, p.cfg.Groups)}
	}
	for _, r := range ranks {
		if err := g.Add(r); err != nil {
			g.Delete()
			return nil, err
		}
	}
	return g, nil
}

// newGroup makes a group in a place that is free. The caller has the place.
func (p *Proc) newGroup(place int) *Group {
	p.tags[place] = nextTag(p.tags[place])
	return &Group{p: p, index: place, tag: p.tags[place]}
}

// nextTag is the tag of the group that gets a place after the one with a tag.
func nextTag(tag uint32) uint32 { return tag%lastTag + 1 }

// Groups are the groups that exist on this rank, committed or not, the world
// first. Those that libraries have made for themselves are among them.
func (p *Proc) Groups() []*Group { return p.groups.All() }

// Add adds a rank to a group that is not committed. It is local.
func (g *Group) Add(r Rank) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, there := slices.BinarySearch(g.ranks, r)
	switch {
	case g.deleted.Load():
		return g.error("group_add", ErrClosed)
	case g.committed.Load() || g.commit != nil:
		return g.error("group_add", fmt.Errorf("%w: the group is committed and cannot change", ErrInUse))
	case r < 0 || int(r) >= g.p.size:
		return g.error("group_add", g.p.badRank(r))
	case there:
		return g.error("group_add", fmt.Errorf("%w: rank %d is in the group already", ErrInUse, r))
	}
	g.ranks = slices.Insert(g.ranks, at, r)
	return nil
}

// Proc is the rank that holds the group.
func (g *Group) Proc() *Proc { return g.p }

// Size is the number of ranks.
func (g *Group) Size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.ranks)
}

// Ranks are the members, ascending. The caller owns the slice.
func (g *Group) Ranks() []Rank {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.ranks)
}

// Rank is the position of this rank in the group, from 0 to Size-1, and false
// if it is no member. It is not a rank of the job: see Ranks.
func (g *Group) Rank() (int, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.BinarySearch(g.ranks, g.p.rank)
}

// String is the group as messages show it.
func (g *Group) String() string {
	if g == g.p.world {
		return "world"
	}
	return fmt.Sprintf("group %d", g.index)
}

// Delete gives the group's place back. It is local, and not possible for the
// world. No collective of the group may be under way on any member. If one has ended
// early here, or the group was revoked, the place stays taken: others may still write to
// its slots. After a Commit that ended early it does so if a member has heard where the group lies.
func (g *Group) Delete() error {
	if g == g.p.world {
		return g.error("group_delete", fmt.Errorf("%w: the world cannot be deleted", ErrInUse))
	}
	if !g.deleted.CompareAndSwap(false, true) {
		return g.error("group_delete", ErrClosed)
	}
	g.RevokeAlone()
	heard := g.withdraw()
	if g.turns != nil {
		g.turns.giveUp()
	}
	g.p.committed(g)
	if !heard && !g.unfinished() {
		g.p.groups.Remove(g.index)
	}
	return nil
}

// unfinished reports whether a collective of the group ended early here, or may have at
// others. Nobody is in one.
func (g *Group) unfinished() bool {
	return g.turns != nil && (g.Revoked() != nil || g.consent.Active() || g.barrier.active || g.internal.active || g.ballot.active || g.vector.active || g.turns.Begun())
}

// error wraps err with the group's name.
func (g *Group) error(op string, err error) error { return &OpError{Op: op, At: g.String(), Err: err} }

// wrap is error for one that may say already whom the group was waiting for.
func (g *Group) wrap(op string, err error) error {
	if inner, ok := err.(*OpError); ok {
		return &OpError{Op: op, At: g.String(), Err: inner.Err, Wait: inner.Wait}
	}
	return g.error(op, err)
}

// ready returns an error unless collectives of the group can be called.
func (g *Group) ready(op string) error {
	if err := g.made(op); err != nil {
		return err
	}
	if err := g.Revoked(); err != nil {
		return g.error(op, err)
	}
	return nil
}

// usable reports whether g is ready and no rank is lost. It is inlined: short calls ask it before ready.
func (g *Group) usable() bool {
	p := g.p
	return !p.closed.Load() && !g.deleted.Load() && g.committed.Load() && g.revocation.err.Load() == nil && p.peers.AllPresent()
}

// made returns an error unless the group is committed, and not deleted.
func (g *Group) made(op string) error {
	switch {
	case g.p.closed.Load() || g.deleted.Load():
		return g.error(op, ErrClosed)
	case !g.committed.Load():
		return g.error(op, fmt.Errorf("the group is not committed; call Commit on every member first"))
	}
	return nil
}

// over is why no collective of the group can end any more: this rank is closed, the
// group revoked, or a member has died, on which others may depend.
func (g *Group) over() error {
	if err := g.p.ended(); err != nil {
		return err
	}
	lost := g.p.peers.Lost(g.ranks)
	if lost == nil && g.also != nil {
		lost = g.also()
	}
	return g.because(lost)
}

// overWithout is over, or the end of the first of ranks that left normally.
func (g *Group) overWithout(ranks func() []Rank) error {
	if err := g.over(); err != nil {
		return err
	}
	if g.p.peers.AllPresent() {
		return nil
	}
	if err := g.p.peers.FirstLeft(ranks()); err != nil {
		return cmp.Or(g.Revoked(), err)
	}
	return nil
}

// open makes the group's collectives. Its slots are clear.
func (g *Group) open(me int, indexOf []int, tagOf []uint32) {
	g.me, g.indexOf, g.tagOf = me, indexOf, tagOf
	g.near = g.p.hosts.Tree(g.ranks, me)
	g.barrier = newBarrier(g, g.p.lay.Group.Barrier, &g.p.stats.barrierWait)
	g.internal = newBarrier(g, g.p.lay.Group.Internal, nil)
	g.ballot = newBallot(g)
	g.turns = newTurns(g)
	g.vector = newVectorOp(g)
	g.consent = &agreement{g: g}
}

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

// A tree is how something goes up from the members of a group to the first one and comes back
// down: see topology.Tree. A member has a slot for each of its children, and one for its parent.
type tree struct {
	g        *Group
	has      func(slot int) bool // something has come into a slot
	upStop   func() error        // asked by waits for the children whether they should end
	downStop func() error        // likewise for the parent
}

// A treeStage is how far a member has come.
type treeStage int

const (
	gathering  treeStage = iota // waiting for the children
	delivering                  // to the parent
	awaiting                    // the result
	spreading                   // the result to the children
)

func (t *tree) plant(g *Group, has func(slot int) bool) {
	t.g, t.has = g, has
	t.upStop, t.downStop = t.whyUp, t.whyDown
}

func (t *tree) parent() int { return t.g.near.Parent }

func (t *tree) children() []int { return t.g.near.Children }

// missing are the children from which nothing has come.
func (t *tree) missing() []Rank {
	var ranks []Rank
	for slot, child := range t.children() {
		if !t.has(slot) {
			ranks = append(ranks, t.g.ranks[child])
		}
	}
	return ranks
}

// whyUp and whyDown are like barrier.why.
func (t *tree) whyUp() error {
	return t.g.overWithout(t.missing)
}

func (t *tree) whyDown() error {
	return t.g.overWithout(func() []Rank {
		if t.has(topology.ParentSlot) {
			return nil
		}
		return []Rank{t.g.ranks[t.parent()]}
	})
}

// awaits returns the ranks that a member waits for in a stage, in the order of their notifications.
func (t *tree) awaits(stage treeStage) (ranks []Rank) {
	if stage == awaiting {
		return []Rank{t.g.ranks[t.parent()]}
	}
	for _, child := range t.children() {
		ranks = append(ranks, t.g.ranks[child])
	}
	return ranks
}

// tell posts a notification in the system segment of a member. Its error is for fault.
func (g *Group) tell(member int, id notify.ID, v notify.Value) error {
	way, err := g.p.route(g.ranks[member])
	if err != nil {
		return err
	}
	return way.Notify(g.p.internal, transport.Flag{Segment: g.p.lay.ID, ID: id, Value: v})
}
