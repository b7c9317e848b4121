package gaspi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/transport"
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
	tag   uint32 // guarded by the table's mu; tells it from others that have had the place
	drawn bool   // guarded by the table's mu; the place is reserved by a draw, and no group yet
	scope scope  // of Commit; constant once it has begun

	mu        sync.Mutex
	ranks     []Rank // guarded by mu until committed, then constant; ascending
	committed atomic.Bool
	deleted   atomic.Bool

	revocation revocation

	// Constant once committed.
	me      int      // index of this rank in ranks
	indexOf []int    // index is the member; the group's index there
	tagOf   []uint32 // index is the member; the group's tag there

	commit   *commitState // set under mu; nil unless a commit is under way; else ranks are constant
	commits  atomic.Bool  // somebody is in Commit
	barrier  *barrier
	internal *barrier // of collective calls of package gaspi itself
	ballot   *ballot  // likewise
	turns    *turns   // of those calls
	vector   *vectorOp
	consent  *consent
	shrink   shrinking
	also     func() error // one more reason for over, or nil
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
// world. No collective of the group may be under way on any member. If one has ended
// early here, or the group was revoked, the place stays taken: others may still write to
// its slots.
func (g *Group) Delete() error {
	if g == g.p.world {
		return g.error("group_delete", fmt.Errorf("%w: the world cannot be deleted", ErrInUse))
	}
	if !g.deleted.CompareAndSwap(false, true) {
		return g.error("group_delete", ErrClosed)
	}
	g.RevokeAlone()
	g.withdraw()
	if g.turns != nil {
		g.turns.giveUp()
	}
	g.p.groups.committed(g)
	if !g.unfinished() {
		g.p.groups.give(g)
	}
	return nil
}

// unfinished reports whether a collective of the group ended early here, or may have at
// others. Nobody is in one.
func (g *Group) unfinished() bool {
	return g.turns != nil && (g.Revoked() != nil || g.consent.active || g.barrier.active || g.internal.active || g.ballot.active || g.vector.active || g.turns.begun())
}

// error wraps err with the group's name.
func (g *Group) error(op string, err error) error { return &OpError{Op: op, At: g.String(), Err: err} }

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

// commitState is how far a commit has come.
type commitState struct {
	hash record
	sent []bool // index is the member; true also of those who need no record
	got  []bool // true also of those whose record is not needed

	places []uint64 // by place.put; nil until all records were taken
	shared int      // how many words of places all members have
}

// Commit makes the group ready for use. It is collective over its members, which
// must all have the same ranks in it, and blocks. When ctx ends first, calling
// Commit again goes on. Groups may be committed in several goroutines at a time, in
// any order at each member. Commits of equal ranks match by their order, and wait for
// each other: for several of these in several goroutines, use Dup or Subgroup.
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
	if err := g.Revoked(); err != nil {
		return g.error("group_commit", err)
	}
	if err := g.beginCommit(ctx); err != nil {
		return g.wrap("group_commit", err)
	}
	if err := g.exchange(ctx); err != nil {
		return err
	}
	if err := g.sharePlaces(ctx); err != nil {
		return err
	}
	// When the barrier of the new group is done, every member has taken every
	// record, so the places of the records are free for the next group of the number.
	if err := g.internal.run(ctx, "group_commit"); err != nil {
		return err
	}
	g.p.groups.committed(g)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.commit = nil
	g.committed.Store(true)
	return nil
}

// beginCommit freezes the ranks, unless a commit that ended early did so before.
func (g *Group) beginCommit(ctx context.Context) error {
	ranks := g.Ranks()
	me, member := slices.BinarySearch(ranks, g.p.rank)
	if !member {
		return fmt.Errorf("%w: this rank, %d, is not in the group", ErrBadRank, g.p.rank)
	}
	hash := g.scope.record(ranks)
	if err := g.p.groups.queue(ctx, g, ranks, hash); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.commit != nil {
		return nil
	}
	n := len(ranks)
	g.p.clearGroup(g.index)
	g.ranks = ranks
	g.open(me, make([]int, n), make([]uint32, n))
	g.indexOf[me] = g.index
	g.commit = &commitState{hash: hash, sent: slices.Repeat([]bool{true}, n), got: slices.Repeat([]bool{true}, n)}
	for _, m := range signalled(me, n) {
		g.commit.got[m] = false
	}
	for _, m := range signallers(me, n) {
		g.commit.sent[m] = false
	}
	return nil
}

// signalled are the members, of n, that the collectives of member me write to, some
// more than once. Where the group lies at others it learns in a reduction over these, so
// that a commit takes about 15 messages per member for each factor 16 of n.
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

// open makes the group's collectives. Its slots are clear.
func (g *Group) open(me int, indexOf []int, tagOf []uint32) {
	g.me, g.indexOf, g.tagOf = me, indexOf, tagOf
	g.barrier = newBarrier(g, slotBarrier, &g.p.stats.barrierWait)
	g.internal = newBarrier(g, slotInternal, nil)
	g.ballot = newBallot(g)
	g.turns = newTurns(g)
	g.vector = newVectorOp(g)
	g.consent = newConsent(g)
}

// exchange tells the members that will write here where the group lies, and learns
// where it lies at those that this one will write to.
func (g *Group) exchange(ctx context.Context) error {
	for m := range g.ranks {
		if g.commit.sent[m] {
			continue
		}
		if err := g.fault(ctx, g.ranks[m], g.sendRecord(ctx, m, g.commit.hash)); err != nil {
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

// A record is what a member says of a group that it commits: the hash of its scope and its
// ranks, which is not 0. Its place at the other member says where the group lies at the
// first one; see layout.commitIn. The member that takes it sets it to 0.
type record uint64

// withdrawn is the record that takes the one before it back.
const withdrawn record = 0

// sendRecord tells member m. An exchange that is on its way is waited for: none may come
// after a later one. A rank that has lost the launcher makes no later one.
func (g *Group) sendRecord(ctx context.Context, m int, r record) error {
	p, to := g.p, g.ranks[m]
	link, err := p.link(to)
	if err != nil {
		return err
	}
	at := transport.Addr{Segment: p.lay.id, Offset: p.lay.commitIn(p.rank, g.index)}
	if _, err := p.whileAttached(ctx, link, at, transport.Swap, uint64(r), 0); err != nil {
		return err
	}
	return link.Notify(p.internal, transport.Flag{Segment: p.lay.id, ID: p.lay.commitSlot(p.rank), Value: 1})
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
			_ = g.sendRecord(context.Background(), m, withdrawn)
		}
	}
}

// takeRecord waits for the record of member m and takes it. Others stay for their
// groups: the member may already be committing what this rank will commit when it has
// given this group up, as after a death that not all have learned of at the same time.
// The notification that comes with a record only wakes who waits.
func (g *Group) takeRecord(ctx context.Context, m int) error {
	p, from := g.p, g.ranks[m]
	words := p.records(from)
	find := func() bool { return slices.ContainsFunc(words, g.commit.hash.is) }
	stop := func() error {
		// A member that has lost another never commits this group, nor does one that has left.
		return cmp.Or(g.over(), p.awaits(from))
	}
	if err := p.system.Notifications().WaitFunc(ctx, find, stop, nil); err != nil {
		return err
	}
	i := slices.IndexFunc(words, g.commit.hash.is)
	if i < 0 || !words[i].CompareAndSwap(uint64(g.commit.hash), uint64(withdrawn)) {
		return nil // it was withdrawn meanwhile
	}
	g.indexOf[m], g.commit.got[m] = i, true
	return nil
}

// is reports whether a word holds r.
func (r record) is(word *atomic.Uint64) bool { return word.Load() == uint64(r) }

// records are the words that rank from writes its records to; the index is the number
// of the group there.
func (p *Proc) records(from Rank) []*atomic.Uint64 {
	words := make([]*atomic.Uint64, p.cfg.Groups)
	for i := range words {
		word, err := p.system.Word(p.lay.commitIn(from, i))
		if err != nil {
			panic(err) // the layout places every word in the segment
		}
		words[i] = word
	}
	return words
}

func (g *Group) commitError(m int, err error) error {
	e := &OpError{Op: "group_commit", At: g.String(), Err: err}
	if isTimeLimit(err) {
		e.Wait = fmt.Sprintf("rank %d to commit the same ranks %v", g.ranks[m], g.ranks)
		other := func(word *atomic.Uint64) bool { r := record(word.Load()); return r != withdrawn && r != g.commit.hash }
		if slices.ContainsFunc(g.p.records(g.ranks[m]), other) {
			e.Wait += " (it is committing a group of other ranks)"
		}
	}
	return e
}
