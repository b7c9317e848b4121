package gaspi

import (
	"context"

	"github.com/gaspi-go/gaspi-go/internal/status"
	"github.com/gaspi-go/gaspi-go/notify"
)

// LoseLink makes this rank lose rank r as a connection that broke does, although both
// go on.
func (p *Proc) LoseLink(r Rank, reason string) {
	p.peers.LinkLost(&RankError{Rank: r, Reason: reason})
}

// FindGone makes an operation of this rank find rank r gone, although nobody has told of its end.
func (p *Proc) FindGone(r Rank) error {
	return p.peers.Found(r, &RankError{Rank: r, Reason: "found gone"})
}

// FindGone makes a collective operation of the group, which needs rank r, find it gone.
func (g *Group) FindGone(ctx context.Context, r Rank) error {
	return g.fault(ctx, r, &RankError{Rank: r, Reason: "found gone"})
}

// BeginRevocation is as much of Revoke as another goroutine may have done that was stopped
// in it: the group is revoked and waits look again, those that are revoked with it are not yet, and
// nobody is told.
func (g *Group) BeginRevocation(cause error) {
	g.revocation.err.Store(newRevoked(cause))
	g.p.wakeAll()
}

// FailTurn is the error of a collective call of the group whose turn had not come when its wait
// ended with err.
func (g *Group) FailTurn(err error) error { return g.turns.fail(err) }

// CreateLate is CreateSegment of AnySegment in a goroutine that has found this rank open, whatever has
// happened since.
func (p *Proc) CreateLate(ctx context.Context) error {
	o, err := p.options(nil)
	if err != nil {
		return err
	}
	_, err = (&creation{p: p, op: "segment_create", id: AnySegment, m: memory{size: 8}, o: o}).run(ctx)
	return err
}

// EnterLate is as much of Dup as waits for its turn, likewise.
func (g *Group) EnterLate(ctx context.Context) error { return g.turns.enter(ctx, turnDup, "group_dup") }

// WhileClosing calls f when Close has begun, and nothing has been taken away yet.
func (p *Proc) WhileClosing(f func()) {
	p.closed.Store(true)
	defer p.closed.Store(false)
	f()
}

// ExplainBarrier returns a function that says for whom the barrier of the group still waits, in which
// a goroutine sleeps: as gaspi-run is told from now on.
func (g *Group) ExplainBarrier() (from func() []Rank) {
	b, w := g.barrier, status.Wait{}
	round := &b.rounds[b.round]
	renew := g.p.explainSystem(&w, notify.EveryUntil(round.first, uint32(len(round.from)), notify.Reached, b.epoch))
	return func() []Rank {
		if renew != nil {
			renew(&w)
		}
		return w.From
	}
}

// Remembers reports whether an operation with an address finds the window of an earlier one.
func (q *Queue) Remembers(at Remote) bool { return q.near(at, Span{}) != nil }

// Connect is the last part of Init, once more.
func (p *Proc) Connect(ctx context.Context) error { return p.world.connect(ctx) }

// Unconnected returns the ranks to which barriers of the world send signals and nothing has been sent yet.
func (p *Proc) Unconnected() (ranks []Rank) {
	for _, round := range p.hosts.Barrier(p.world.ranks, p.world.me) {
		for _, to := range round.To {
			if r := p.world.ranks[to.Member]; p.links[r].Load() == nil {
				ranks = append(ranks, r)
			}
		}
	}
	return ranks
}

// Contacts is the number of ranks that this one has a way to.
func (p *Proc) Contacts() (n int) {
	for r := range p.links {
		if p.links[r].Load() != nil {
			n++
		}
	}
	return n
}
