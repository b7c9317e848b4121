package gaspi

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// The order of losses tells which rank was lost first: others often end because of it, and
// errors name that one.

// count notes that rank r has ended or is lost, unless that was noted before.
func (h *health) count(r Rank) {
	if h.turns[r].Load() == 0 {
		h.turns[r].CompareAndSwap(0, h.losses.Add(1))
	}
}

// announced notes that the end of rank r is told. Ends are told in their order, so this counts
// and not when operations have found the rank gone, unless nobody told of it in time.
func (h *health) announced(r Rank) {
	if h.ends[r].Load() == nil && (h.turns[r].Load() == 0 || !h.untold[r].Load()) {
		h.turns[r].Store(h.losses.Add(1))
	}
}

// judged reports whether it is known what became of rank r, which an operation has found
// gone: its end is told, or nobody tells of it.
func (h *health) judged(r Rank) bool { return h.ends[r].Load() != nil || h.untold[r].Load() }

// newsPatience is how long after a connection broke an operation that finds its peer gone waits
// for the news of the peer's end: a part of verdictPatience, since others wait for this rank.
const newsPatience = verdictPatience / 4

// verdict blocks until the rank that err names is judged, until newsPatience after the
// connection with it broke at most, or until unneeded reports true. When the end of the rank is told, those of ranks that ended before it
// are known: it may have ended because of one of these.
func (p *Proc) verdict(ctx context.Context, err *RankError, unneeded func() bool) error {
	p.doubt(err)
	known := func() bool { return p.judged(err.Rank) || unneeded() }
	since := time.Now()
	if b := p.broken[err.Rank].Load(); b != nil {
		since = b.at
	}
	limited, cancel := context.WithDeadline(ctx, since.Add(newsPatience))
	defer cancel()
	if late := p.system.Notifications().WaitFunc(limited, known, p.stop, nil); !isTimeLimit(late) || ctx.Err() != nil {
		return late
	}
	return nil
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

// earliest is the first of ranks to have ended or been lost of those that are chosen, and
// whether there is one. Ranks often end because another one has.
func (h *health) earliest(ranks []Rank, chosen func(Rank) bool) (first Rank, any bool) {
	for _, r := range ranks {
		if chosen(r) && (!any || h.turns[r].Load() < h.turns[first].Load()) {
			first, any = r, true
		}
	}
	return first, any
}

// FirstFailure is the Failure of the first of ranks that ended or was lost, as far as this
// rank knows, or nil if all are there: others often end because of it. It does not block.
func (p *Proc) FirstFailure(ranks []Rank) *RankError {
	if r, any := p.earliest(ranks, func(r Rank) bool { return p.Failure(r) != nil }); any {
		return p.Failure(r)
	}
	return nil
}

// doubt takes note of an operation that failed: if that says that a rank is gone, and nobody
// tells of its end in time, it counts as missed and becomes corrupt. It does not block.
func (p *Proc) doubt(err error) {
	gone, ok := errors.AsType[*RankError](err)
	if ok && !p.judged(gone.Rank) && p.broken[gone.Rank].Load() == nil {
		p.linkLost(gone)
	}
}
