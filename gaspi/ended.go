package gaspi

import "github.com/gaspi-go/gaspi-go/internal/peerstate"

// Why a wait ends without that for which it waits: this rank has closed, the launcher is gone or
// rank 0 of a job without one, or ranks that could have brought it have died, were lost, or have left.

// ended is why no wait of this rank makes sense any more, or nil.
func (p *Proc) ended() error {
	if p.closed.Load() {
		return ErrClosed
	}
	if loss := p.loss.Load(); loss != nil {
		return loss
	}
	return nil
}

// anyEnded is why a wait for any rank of the job should end.
func (p *Proc) anyEnded() error {
	if err := p.ended(); err != nil {
		return err
	}
	if p.peers.AllPresent() {
		return nil
	}
	return p.orphanedBy(p.others)
}

// orphanedBy returns why a wait for any of others should end: one of them died or was lost,
// or all have left and the program has not said that it knows.
func (p *Proc) orphanedBy(others []Rank) error {
	if r, any := p.peers.First(others, func(peer *peerstate.Entry) bool { return peer.Corrupt && !peer.HasLeft() }); any {
		return p.peers.Why(r)
	}
	for _, r := range others {
		if !p.peers.At(r).HasEnded() {
			return nil
		}
	}
	if len(others) == 0 || p.peers.Acknowledged() {
		return nil
	}
	return &RankError{Rank: others[0], Reason: "it and all others that could write here have left the job"}
}

// awaits is why a wait for rank r alone should end.
func (p *Proc) awaits(r Rank) error {
	if err := p.ended(); err != nil {
		return err
	}
	return p.absent(r)
}

// absent is why rank r, which has ended or is corrupt, does nothing any more, or nil.
func (p *Proc) absent(r Rank) error {
	if p.peers.At(r).Absent() {
		return p.peers.Why(r)
	}
	return nil
}

// lostAmong returns why the collectives of ranks cannot end: the first of them that
// died, or that this rank has lost although nobody tells of its end. A rank that left
// normally counts only for who waits for it, whatever failed afterwards.
func (p *Proc) lostAmong(ranks []Rank) error {
	if p.peers.AllPresent() {
		return nil
	}
	r, any := p.peers.First(ranks, func(peer *peerstate.Entry) bool { return peer.Absent() && !peer.HasLeft() })
	if !any {
		return nil
	}
	why := p.peers.Why(r)
	if p.peers.At(r).HasEnded() {
		return p.fault(r, why)
	}
	return why
}

// left returns the end of rank r if it left normally.
func (p *Proc) left(r Rank) error {
	if peer := p.peers.At(r); peer.State == peerstate.Left {
		return peer.End
	}
	return nil
}

// leftAmong returns the end of the first of ranks that left normally. ranks is not
// called while all are there.
func (p *Proc) leftAmong(ranks func() []Rank) error {
	if p.peers.AllPresent() {
		return nil
	}
	for _, r := range ranks() {
		if err := p.left(r); err != nil {
			return err
		}
	}
	return nil
}
