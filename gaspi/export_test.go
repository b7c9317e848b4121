package gaspi

import "context"

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
// in it: the group is revoked, those that are revoked with it are not yet.
func (g *Group) BeginRevocation(cause error) { g.revocation.err.Store(newRevoked(cause)) }

// FailTurn is the error of a collective call of the group whose turn had not come when its wait
// ended with err.
func (g *Group) FailTurn(err error) error { return g.turns.fail(err) }
