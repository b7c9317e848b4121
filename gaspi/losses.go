package gaspi

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/peerstate"
)

// newsPatience is how long after a connection broke an operation that finds its peer gone waits
// for the news of the peer's end: a part of verdictPatience, since others wait for this rank.
const newsPatience = verdictPatience / 4

// verdict blocks until the rank that err names is judged, until newsPatience after the
// connection with it broke at most, or until unneeded reports true. When the end of the rank is
// told, those of ranks that ended before it are known: it may have ended because of one of these.
func (p *Proc) verdict(ctx context.Context, err *RankError, unneeded func() bool) error {
	p.doubt(err)
	known := func() bool { return p.peers.At(err.Rank).Judged() || unneeded() }
	since := time.Now()
	if peer := p.peers.At(err.Rank); peer.Broken != nil {
		since = peer.BrokenAt
	}
	limited, cancel := context.WithDeadline(ctx, since.Add(newsPatience))
	defer cancel()
	if late := p.system.Notifications().WaitFunc(limited, known, p.stop, nil); !isTimeLimit(late) || ctx.Err() != nil {
		return late
	}
	return nil
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
		if first := g.p.lostAmong(other.ranks); first != nil {
			return first
		}
	}
	return nil
}

// revoked reports whether this rank has heard that the group was revoked, which says why its
// collectives end.
func (g *Group) revoked() bool { return g.revocation.err.Load() != nil }

// fault is the error of an operation to a member: if that is gone, why the group's
// collectives end, since the member may have ended because of another one. It blocks until
// that is known.
func (g *Group) fault(ctx context.Context, to Rank, err error) error {
	gone, ok := errors.AsType[*RankError](err)
	if !ok {
		return err
	}
	if late := g.p.verdict(ctx, gone, g.revoked); late != nil {
		return late
	}
	if !g.revoked() {
		err = g.p.fault(to, err)
	}
	return cmp.Or(g.over(), err)
}

// FirstFailure is the Failure of the first of ranks that ended or was lost, as far as this
// rank knows, or nil if all are there: others often end because of it. It does not block.
func (p *Proc) FirstFailure(ranks []Rank) *RankError {
	if r, any := p.peers.First(ranks, (*peerstate.Entry).Gone); any {
		return p.Failure(r)
	}
	return nil
}

// doubt takes note of an operation that failed: if that says that a rank is gone, and nobody
// tells of its end in time, it counts as missed and becomes corrupt. It does not block.
func (p *Proc) doubt(err error) {
	gone, ok := errors.AsType[*RankError](err)
	if !ok {
		return
	}
	if peer := p.peers.At(gone.Rank); !peer.Judged() && peer.Broken == nil {
		p.linkLost(gone)
	}
}
