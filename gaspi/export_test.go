package gaspi

// LoseLink makes this rank lose rank r as a connection that broke does, although both
// go on.
func (p *Proc) LoseLink(r Rank, reason string) {
	p.linkLost(&RankError{Rank: r, Reason: reason})
}
