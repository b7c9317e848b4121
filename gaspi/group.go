package gaspi

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// A Group is a set of ranks that act together. Ranks in it are kept in ascending
// order. Collective calls on one group must come in the same order on all its
// members; a barrier and an AllReduce may be under way at the same time.
//
// A group's number is local: members need not agree on it, deleting a group
// renumbers no other, and two groups may have the same ranks.
type Group struct {
	p     *Proc
	index int // of the group's slots in the system segment of this rank

	mu        sync.Mutex
	ranks     []Rank // guarded by mu until committed, then constant; ascending
	committed atomic.Bool
	deleted   atomic.Bool

	// Constant once committed.
	me      int   // index of this rank in ranks
	indexOf []int // index is the member; the group's index at a member this one signals

	commit   *commitState // set under mu; nil unless a commit is under way; else ranks are constant
	commits  atomic.Bool  // somebody is in Commit
	barrier  *barrier
	internal *barrier // of collective calls of package gaspi itself
	vector   *vectorOp
}

// NewGroup makes a group of ranks in any order, without Commit: it can be
// changed by Add and not yet used. It is local and does not block. With no
// ranks it is empty. A rank given twice is an error.
func (p *Proc) NewGroup(ranks ...Rank) (*Group, error) {
	g, err := p.groups.take(p)
	if err != nil {
		return nil, &OpError{Op: "group_create", Err: err}
	}
	for _, r := range ranks {
		if err := g.Add(r); err != nil {
			g.Delete()
			return nil, err
		}
	}
	return g, nil
}

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
// world. No collective of the group may be under way on any member.
func (g *Group) Delete() error {
	if g == g.p.world {
		return g.error("group_delete", fmt.Errorf("%w: the world cannot be deleted", ErrInUse))
	}
	if !g.deleted.CompareAndSwap(false, true) {
		return g.error("group_delete", ErrClosed)
	}
	g.withdraw()
	g.p.groups.give(g)
	return nil
}

// error wraps err with the group's name.
func (g *Group) error(op string, err error) error { return &OpError{Op: op, At: g.String(), Err: err} }

// ready returns an error unless collectives of the group can be called.
func (g *Group) ready(op string) error {
	switch {
	case g.p.closed.Load() || g.deleted.Load():
		return g.error(op, ErrClosed)
	case !g.committed.Load():
		return g.error(op, fmt.Errorf("the group is not committed; call Commit on every member first"))
	}
	return nil
}

// commitState is how far a commit has come.
type commitState struct {
	hash    uint64
	sent    []bool // index is the member; true also of those who need no record
	got     []bool // true also of those whose record is not needed
	strange []bool // the member is committing a group of other ranks
	indexOf []int
}

// Commit makes the group ready for use. It is collective over its members, which
// must all have the same ranks in it, and blocks. When ctx ends first, calling
// Commit again goes on. It is called from one goroutine at a time, and in the
// same order for all groups that share members.
func (g *Group) Commit(ctx context.Context) error {
	if !g.commits.CompareAndSwap(false, true) {
		return g.error("group_commit", fmt.Errorf("%w: Commit is under way in another goroutine", ErrInUse))
	}
	defer g.commits.Store(false)
	if g.deleted.Load() || g.p.closed.Load() {
		return g.error("group_commit", ErrClosed)
	}
	if g.committed.Load() {
		return nil
	}
	if err := g.beginCommit(); err != nil {
		return g.error("group_commit", err)
	}
	if err := g.exchange(ctx); err != nil {
		return err
	}
	// When the barrier of the new group is done, every member has taken every
	// record, so the place of the records is free for the next commit.
	if err := g.internal.run(ctx, "group_commit", "group_commit"); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.commit = nil
	g.committed.Store(true)
	return nil
}

// beginCommit freezes the ranks, unless a commit that ended early did so before.
func (g *Group) beginCommit() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.commit != nil {
		return nil
	}
	me, member := slices.BinarySearch(g.ranks, g.p.rank)
	if !member {
		return fmt.Errorf("%w: this rank, %d, is not in the group", ErrBadRank, g.p.rank)
	}
	g.open(me)
	n := len(g.ranks)
	g.commit = &commitState{
		hash: hashRanks(g.ranks), sent: slices.Repeat([]bool{true}, n), got: slices.Repeat([]bool{true}, n),
		strange: make([]bool, n), indexOf: g.indexOf,
	}
	for _, m := range signalled(me, n) {
		g.commit.got[m] = false
	}
	for _, m := range signallers(me, n) {
		g.commit.sent[m] = false
	}
	return nil
}

// signalled are the members, of n, that the collectives of member me write to, some
// more than once. It need not know where the group lies at others, so that a
// commit takes about 15 messages per member for each factor 16 of n.
func signalled(me, n int) []int {
	members := relatives(me, n)
	for d := range distances(n) {
		members = append(members, (me+d)%n)
	}
	return members
}

// signallers are the members whose collectives write to member me.
func signallers(me, n int) []int {
	members := relatives(me, n)
	for d := range distances(n) {
		members = append(members, (me-d+n)%n)
	}
	return members
}

// open clears the group's slots and makes its collectives.
func (g *Group) open(me int) {
	first := g.p.lay.groupSlot(g.index)
	for i := range groupSlots {
		_, _ = g.p.system.Board().Reset(first + notify.ID(i)) // the id is on the board by layout
	}
	g.me = me
	g.indexOf = make([]int, len(g.ranks))
	g.indexOf[me] = g.index
	g.barrier = newBarrier(g, slotBarrier, &g.p.stats.barrierWait)
	g.internal = newBarrier(g, slotInternal, nil)
	g.vector = newVectorOp(g)
}

func hashRanks(ranks []Rank) uint64 {
	h := fnv.New64a()
	for _, r := range ranks {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], uint32(r))
		h.Write(b[:])
	}
	return h.Sum64()
}

// exchange tells the members that will write here where the group lies, and learns
// where it lies at those that this one will write to.
func (g *Group) exchange(ctx context.Context) error {
	for m := range g.ranks {
		if g.commit.sent[m] {
			continue
		}
		if err := g.sendRecord(ctx, m, newRecord(g.commit.hash, g.index)); err != nil {
			return g.error("group_commit", err)
		}
		g.commit.sent[m] = true
	}
	for m := range g.ranks {
		for !g.commit.got[m] {
			if err := g.takeRecord(ctx, m); err != nil {
				return g.commitError(m, err)
			}
		}
	}
	return nil
}

// A record is what a member says of a group that it commits, in one word, so
// that a newer one can replace it while it is read:
//
//	| hash of the ranks: 48 bits | index of the group at the member + 1: 16 bits, 0 if withdrawn |
type record uint64

func newRecord(hash uint64, index int) record { return record(hash&^0xffff | uint64(index+1)) }

// withdrawn is the index of a record that takes the one before it back.
const withdrawn = -1

func (r record) index() int { return int(r&0xffff) - 1 }

// of reports whether r says where a group of ranks with that hash lies.
func (r record) of(hash uint64) bool {
	return uint64(r)&^0xffff == hash&^0xffff && r.index() != withdrawn
}

// sendRecord tells member m. An exchange that is on its way is waited for: none may come
// after a later one.
func (g *Group) sendRecord(ctx context.Context, m int, r record) error {
	p, to := g.p, g.ranks[m]
	link, err := p.link(to)
	if err != nil {
		return err
	}
	at := transport.Addr{Segment: p.lay.id, Offset: p.lay.commitIn(p.rank)}
	if _, err := carriedOut(ctx, link, at, transport.Swap, uint64(r), 0); err != nil {
		return p.fault(to, err)
	}
	return p.fault(to, link.Notify(p.internal, transport.Flag{Segment: p.lay.id, ID: p.lay.commitSlot(p.rank), Value: 1}))
}

// withdraw takes back what was said of a commit that is given up, so that no
// member takes it for a later commit of the same ranks.
func (g *Group) withdraw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.commit == nil {
		return
	}
	for m, sent := range g.commit.sent {
		if sent && m != g.me {
			// A member that is gone needs none.
			_ = g.sendRecord(context.Background(), m, newRecord(g.commit.hash, withdrawn))
		}
	}
}

// takeRecord waits for a record of member m and takes it off the board. One of
// other ranks is kept: the member may already be committing what this rank will
// commit when it has given this group up, as after a death that not all have
// learned of at the same time. A newer record replaces an older one.
func (g *Group) takeRecord(ctx context.Context, m int) error {
	p, from := g.p, g.ranks[m]
	slot := p.lay.commitSlot(from)
	if p.system.Board().Load(slot) == 0 {
		if r, kept := p.groups.recall(from, g.commit.hash); kept {
			return g.accept(m, r)
		}
	}
	stop := func() error {
		if err := p.awaits(from); err != nil {
			return err
		}
		// A member that has lost another never commits this group.
		return p.lostAmong(g.ranks)
	}
	if _, err := p.system.Board().Wait(ctx, notify.Some(slot, 1), stop, nil); err != nil {
		return err
	}
	if _, err := p.system.Board().Reset(slot); err != nil {
		return err
	}
	word, err := p.system.Word(p.lay.commitIn(from))
	if err != nil {
		return err
	}
	r := record(word.Swap(0)) // or a later notification would show it again
	if r == 0 {
		return nil // taken behind an earlier notification
	}
	p.groups.keep(from, r)
	if r, mine := p.groups.recall(from, g.commit.hash); mine {
		return g.accept(m, r)
	}
	g.commit.strange[m] = r.index() != withdrawn
	return nil
}

// accept takes over where the group lies at member m.
func (g *Group) accept(m int, r record) error {
	if r.index() >= g.p.cfg.Groups {
		return fmt.Errorf("rank %d says that its group has number %d; at most %d are possible", g.ranks[m], r.index(), g.p.cfg.Groups)
	}
	g.indexOf[m] = r.index()
	g.commit.got[m] = true
	return nil
}

func (g *Group) commitError(m int, err error) error {
	e := &OpError{Op: "group_commit", At: g.String(), Err: err}
	if isTimeLimit(err) {
		e.Wait = fmt.Sprintf("rank %d to commit the same ranks %v", g.ranks[m], g.ranks)
		if g.commit.strange[m] {
			e.Wait += " (it is committing a group of other ranks)"
		}
	}
	return e
}

// groupTable holds the places of groups.
type groupTable struct {
	mu    sync.Mutex
	place []*Group        // guarded by mu; nil where free
	kept  map[Rank]record // guarded by mu; the newest record of a rank that no commit has taken
}

// keep replaces what is kept of a rank.
func (t *groupTable) keep(from Rank, r record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil {
		t.kept = make(map[Rank]record)
	}
	t.kept[from] = r
}

// recall takes out what is kept of a rank if it is for ranks with that hash.
func (t *groupTable) recall(from Rank, hash uint64) (record, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, there := t.kept[from]
	if !there || !r.of(hash) {
		return 0, false
	}
	delete(t.kept, from)
	return r, true
}

func (t *groupTable) take(p *Proc) (*Group, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.place, nil)
	if i < 0 {
		return nil, fmt.Errorf("%w: Config.Groups is %d", ErrTooMany, len(t.place))
	}
	t.place[i] = &Group{p: p, index: i}
	return t.place[i], nil
}

func (t *groupTable) give(g *Group) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.place[g.index] = nil
}

// Groups are the groups that exist on this rank, committed or not, the world
// first.
func (p *Proc) Groups() []*Group {
	p.groups.mu.Lock()
	defer p.groups.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.groups.place), func(g *Group) bool { return g == nil })
}
