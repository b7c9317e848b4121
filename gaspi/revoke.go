package gaspi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/peerstate"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// A revocation is told by notifications of a segment that every rank has for this alone,
// with one notification for each of its group places. A member posts it at its hearers: at its
// successors, and at those that wait for its part in a barrier or a small reduction, which must not
// take its leaving for the reason. Each of them does so too, once, whatever its program does: a
// goroutine waits for these notifications. So a revocation reaches all members that are alive
// although the member that began it dies, as long as their circle stays connected, in which each
// has at least 15 successors.

// A RevokedError says that a group was revoked. It matches ErrRevoked.
type RevokedError struct {
	// Cause is why: a *RankError if a rank was lost; else what Group.Revoke was called
	// with, nil on the other members. On a rank that another member has lost, and that has lost
	// nobody itself, it matches ErrRankDead and names no rank.
	Cause error

	lost uint32 // rank that was lost + 1, or 0: as the other members are told
}

// Error says why.
func (e *RevokedError) Error() string {
	if e.Cause == nil {
		return "the group was revoked by another member"
	}
	return "the group was revoked: " + e.Cause.Error()
}

// Is reports whether target is ErrRevoked.
func (e *RevokedError) Is(target error) bool { return target == ErrRevoked }

// Unwrap is the cause.
func (e *RevokedError) Unwrap() error { return e.Cause }

// newRevoked is the error of a revocation because of cause: the loss of a rank, if that
// is in it.
func newRevoked(cause error) *RevokedError {
	if earlier, ok := errors.AsType[*RevokedError](cause); ok {
		return earlier
	}
	if gone, ok := errors.AsType[*RankError](cause); ok {
		return &RevokedError{Cause: gone, lost: uint32(gone.Rank) + 1}
	}
	return &RevokedError{Cause: cause}
}

// revocation is what a group knows of its own.
type revocation struct {
	err  atomic.Pointer[RevokedError] // nil until the group is revoked
	told atomic.Bool                  // this member has passed it on, or is about to

	mu   sync.Mutex
	with []*Group // guarded by mu; groups that are revoked with this one
	of   []*Group // guarded by mu; groups that this one is revoked with
}

// Revoke ends all that the members call over the group, as MPI_Comm_revoke does: calls
// under way and those not yet begun end on every member with a *RevokedError, which
// matches ErrRevoked. So do waits for notifications of segments that were created over
// the group. If cause says that a rank was lost, the error does so on every member,
// and matches ErrRankDead; any other cause is known to the caller alone. Agree, Shrink and
// Delete go on. Nothing makes the group usable again: Shrink makes another.
//
// It is no collective call, does not block, and may be called by any goroutine. The first
// revocation counts on each member, and further ones change nothing. The others learn of
// it also if this rank ends meanwhile, unless it ends before it has told anybody.
func (g *Group) Revoke(cause error) error {
	if err := g.made("group_revoke"); err != nil {
		return err
	}
	g.revoke(newRevoked(cause))
	return nil
}

// Revoked is the *RevokedError of the group, or nil. It is a few loads. A revocation that a
// rank began before it ended is known here before its end is.
func (g *Group) Revoked() error {
	if err := g.revocation.err.Load(); err != nil {
		return err
	}
	if g.p.peers.AllPresent() {
		return nil
	}
	return g.revokedLately()
}

// revokedLately is Revoked when ranks are gone: what they told comes before their end, and
// the goroutine that takes note of it may not have run since.
func (g *Group) revokedLately() error {
	g.p.readNews()
	if err := g.revocation.err.Load(); err != nil {
		return err
	}
	return nil
}

// RevokeWith makes the group end with another one: when other is revoked, so is g, on
// every member that has called this. Members of g are members of other. It is local and
// does not block; g need not be committed.
func (g *Group) RevokeWith(other *Group) error {
	if g.deleted.Load() {
		return g.error("group_revoke_with", ErrClosed)
	}
	if err := other.made("group_revoke_with"); err != nil {
		return err
	}
	g.revocation.mu.Lock()
	g.revocation.of = append(g.revocation.of, other)
	g.revocation.mu.Unlock()
	other.revocation.mu.Lock()
	other.revocation.with = append(other.revocation.with, g)
	other.revocation.mu.Unlock()
	if err := other.revocation.err.Load(); err != nil {
		g.end(err)
	}
	return nil
}

// RevokeAlone ends that the group is revoked with others: it undoes all earlier calls of
// RevokeWith. A group that is revoked stays so. It is local and does not block.
func (g *Group) RevokeAlone() {
	g.revocation.mu.Lock()
	of := g.revocation.of
	g.revocation.of = nil
	g.revocation.mu.Unlock()
	for _, other := range of {
		other.revocation.mu.Lock()
		other.revocation.with = slices.DeleteFunc(other.revocation.with, func(x *Group) bool { return x == g })
		other.revocation.mu.Unlock()
	}
}

// revoke takes note of a revocation, passes it on, and makes all waits of this rank look
// again. Only the first one counts. A group that was revoked with another one is told of as
// well: not all members need have called RevokeWith, nor still be revoked with the other.
func (g *Group) revoke(err *RevokedError) {
	g.end(err)
	if g.revocation.told.CompareAndSwap(false, true) {
		g.flood(g.revocation.err.Load())
		g.p.wakeAll()
	}
}

// end takes note of a revocation, also for the groups that are revoked with this one. When it
// returns, all of them are revoked, also if another goroutine takes note of the revocation at
// the same time and is not that far.
func (g *Group) end(err *RevokedError) {
	ended := g.revocation.err.CompareAndSwap(nil, err)
	err = g.revocation.err.Load()
	for _, other := range g.revokedWith() {
		ended = other.revocation.err.CompareAndSwap(nil, err) || ended
	}
	if ended {
		g.p.wakeAll()
	}
}

// revokedWith returns the groups that are revoked with g, also because one of these is.
func (g *Group) revokedWith() []*Group {
	found := []*Group{g}
	for i := 0; i < len(found); i++ {
		r := &found[i].revocation
		r.mu.Lock()
		for _, other := range r.with {
			if !slices.Contains(found, other) {
				found = append(found, other)
			}
		}
		r.mu.Unlock()
	}
	return found[1:]
}

// because returns why what members of the group do together ends, of whom lost says that one is
// lost, if it is not nil: the revocation of the group, or the loss of a rank before that.
func (g *Group) because(lost error) error {
	return cmp.Or(g.Revoked(), g.lostAround(lost), lost)
}

// lostAround is the loss of the first member of the groups that this one is revoked with, if
// a member of this one is lost, which may have ended because of it: the news of the
// revocation may still be on the way.
func (g *Group) lostAround(lost error) error {
	if lost == nil {
		return nil
	}
	g.revocation.mu.Lock()
	of := g.revocation.of
	g.revocation.mu.Unlock()
	for _, other := range of {
		if first := g.p.peers.Lost(other.ranks); first != nil {
			return first
		}
	}
	return nil
}

// explained reports whether it is known why the group's collectives end: it was revoked, or a
// member has died. Members that left since may have left because of that.
func (g *Group) explained() bool {
	_, dead := g.p.peers.First(g.ranks, func(e *peerstate.Entry) bool { return e.State == peerstate.Dead })
	return dead || g.revocation.err.Load() != nil
}

// fault is the error of an operation to a member: if that is gone, why the group's
// collectives end, since the member may have ended because of another one. It blocks until
// that is known.
func (g *Group) fault(ctx context.Context, to Rank, err error) error {
	gone, ok := errors.AsType[*RankError](err)
	if !ok {
		return err
	}
	if late := g.p.verdict(ctx, gone, g.explained); late != nil {
		return late
	}
	if !g.explained() { // else it may have left well, and other groups are not to take it for lost
		err = g.p.peers.Found(to, err)
	}
	return cmp.Or(g.over(), err)
}

// The notification of a revocation says which group is meant of those that have had the
// place, and whom it has lost.
//
//	| tag of the group at the receiver: 15 bits, never 0 | rank that was lost + 1, or 0: 17 bits |
const (
	lostBits = 17
	lastTag  = 1<<(32-lostBits) - 1
)

// news is the notification of a revocation for the group with a tag.
func (e *RevokedError) news(tag uint32) notify.Value {
	return notify.Value(tag<<lostBits | e.lost)
}

// flood tells the hearers of this member.
func (g *Group) flood(err *RevokedError) {
	for _, m := range g.near.Hearers {
		if g.p.peers.At(g.ranks[m]).HasEnded() {
			continue
		}
		g.p.tellLater(g.ranks[m], transport.Flag{Segment: g.p.lay.News, ID: notify.ID(g.indexOf[m]), Value: err.news(g.tagOf[m])})
	}
}

// tellLater is tell in a goroutine of its own, since a rank that no connection leads to yet may be
// slow to reach. Close waits for it a while.
func (p *Proc) tellLater(to Rank, flag transport.Flag) {
	p.telling.begin()
	go func() {
		defer p.telling.end()
		p.tell(to, flag)
	}()
}

// tell posts a notification at another rank. One that cannot be told needs no news, and when
// it is corrupt is judged elsewhere: it may have ended because of an earlier loss.
func (p *Proc) tell(to Rank, flag transport.Flag) {
	way, err := p.route(to)
	if err == nil {
		err = way.Notify(p.internal, flag)
	}
	p.peers.Doubt(err)
}

// underWay counts what is under way. Unlike with a sync.WaitGroup, some of it may begin while
// wait blocks and nothing else is under way.
type underWay struct {
	mu    sync.Mutex
	count int           // guarded by mu
	none  chan struct{} // guarded by mu; closed when count becomes 0; nil while nobody waits
}

func (w *underWay) begin() {
	w.mu.Lock()
	w.count++
	w.mu.Unlock()
}

func (w *underWay) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count--
	if w.count == 0 && w.none != nil {
		close(w.none)
		w.none = nil
	}
}

// wait blocks until nothing was under way for a moment, for at most most. One goroutine calls
// it at a time.
func (w *underWay) wait(most time.Duration) {
	w.mu.Lock()
	none := make(chan struct{})
	if w.count == 0 {
		close(none)
	} else {
		w.none = none
	}
	w.mu.Unlock()
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-none:
	case <-late.C:
	}
}

// heedNews takes note of revocations, until this rank closes.
func (p *Proc) heedNews() {
	defer p.done.Done()
	array := p.news.Notifications()
	look := func() bool {
		for i := range p.heeded {
			if uint32(array.Load(notify.ID(i))) != p.heeded[i].Load() {
				return true
			}
		}
		return false
	}
	for array.SleepFunc(context.Background(), look, p.stop, nil) == nil {
		p.readNews()
	}
}

// readNews takes note of revocations that have arrived.
func (p *Proc) readNews() {
	for i := range p.heeded {
		if v := uint32(p.news.Notifications().Load(notify.ID(i))); v != p.heeded[i].Load() {
			p.heed(i)
			p.heeded[i].Store(v) // afterwards, so that nobody takes for read what is not yet heeded
		}
	}
}

// heed takes note of the revocation that the notification of a place tells of, if it is
// that of the group in the place. A group whose place is being drawn is not there yet:
// Dup looks itself when it is.
func (p *Proc) heed(index int) {
	v := uint32(p.news.Notifications().Load(notify.ID(index)))
	g := p.groups.Get(index)
	if g == nil || v == 0 || v>>lostBits != g.tag {
		return
	}
	err := &RevokedError{lost: v & (1<<lostBits - 1)}
	if err.lost > 0 {
		err.Cause = p.lostElsewhere(Rank(err.lost - 1))
	}
	g.revoke(err)
}

// lostElsewhere returns why rank r is gone, which another one has lost. If that is this rank,
// it returns the first loss that this rank knows of: the two have lost each other. Ranks that left
// normally do not count. If it knows of none, nobody is named: this rank is there, and only the
// other side knows who that is.
func (p *Proc) lostElsewhere(r Rank) error {
	switch {
	case int(r) >= p.size:
		return fmt.Errorf("%w: %d", ErrBadRank, r)
	case r == p.rank:
		if first, any := p.peers.First(p.peers.Others, func(e *peerstate.Entry) bool { return e.Gone() && !e.HasLeft() }); any {
			return p.peers.Why(first)
		}
		return fmt.Errorf("another member of the group has lost this rank, and both are alive: %w", ErrRankDead)
	}
	if gone := p.Failure(r); gone != nil {
		return gone
	}
	return &RankError{Rank: r, Reason: "another member of the group has lost it"}
}
