package gaspi

// Why a wait ends without that for which it waits: this rank has closed, the launcher is gone,
// or ranks that could have brought it have died, were lost, or have left.

// ended is why no wait of this rank makes sense any more, or nil.
func (p *Proc) ended() error {
	switch {
	case p.closed.Load():
		return ErrClosed
	case p.lost.Load():
		return ErrLauncherLost
	}
	return nil
}

// anyEnded is why a wait for any rank of the job should end.
func (p *Proc) anyEnded() error {
	if err := p.ended(); err != nil {
		return err
	}
	if p.gone.Load() == 0 && p.unseen.Load() == 0 {
		return nil
	}
	return p.orphanedBy(p.others)
}

// orphanedBy returns why a wait for any of others should end: one of them died or was lost,
// or all have left and the program has not said that it knows.
func (p *Proc) orphanedBy(others []Rank) error {
	if r, any := p.earliest(others, func(r Rank) bool { return p.Health(r) == Corrupt && !p.hasLeft(r) }); any {
		return p.goneError(r)
	}
	left := 0
	for _, r := range others {
		if p.ends[r].Load() != nil {
			left++
		}
	}
	if left == 0 || left < len(others) || p.alone.Load() {
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
	if p.ends[r].Load() != nil || Health(p.vector[r].Load()) == Corrupt {
		return p.goneError(r)
	}
	return nil
}

// lostAmong returns why the collectives of ranks cannot end: the first of them that
// died, or that this rank has lost although nobody tells of its end. A rank that left
// normally counts only for who waits for it, whatever failed afterwards.
func (p *Proc) lostAmong(ranks []Rank) error {
	if p.gone.Load() == 0 && p.unseen.Load() == 0 {
		return nil
	}
	r, any := p.earliest(ranks, func(r Rank) bool {
		end := p.ends[r].Load()
		return (end != nil || p.Health(r) == Corrupt) && !p.hasLeft(r)
	})
	if !any {
		return nil
	}
	if end := p.ends[r].Load(); end != nil {
		return p.fault(r, end.err)
	}
	return p.goneError(r)
}

// hasLeft reports whether rank r left normally, as far as this rank knows: an operation may
// find its connections closed before its end is told.
func (p *Proc) hasLeft(r Rank) bool {
	if end := p.ends[r].Load(); end != nil {
		return end.left
	}
	cause := p.causes[r].Load()
	return cause != nil && cause.Left
}

// left returns the end of rank r if it left normally.
func (p *Proc) left(r Rank) error {
	if end := p.ends[r].Load(); end != nil && end.left {
		return end.err
	}
	return nil
}

// leftAmong returns the end of the first of ranks that left normally. ranks is not
// called while all are there.
func (p *Proc) leftAmong(ranks func() []Rank) error {
	if p.gone.Load() == 0 {
		return nil
	}
	for _, r := range ranks() {
		if err := p.left(r); err != nil {
			return err
		}
	}
	return nil
}

// goneError returns how a rank ended that has ended or is Corrupt, or else why it is
// Corrupt.
func (p *Proc) goneError(r Rank) *RankError {
	if end := p.ends[r].Load(); end != nil {
		return end.err
	}
	if cause := p.causes[r].Load(); cause != nil {
		return cause
	}
	return &RankError{Rank: r, Reason: "an operation to it failed"}
}
