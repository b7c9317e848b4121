package peerstate

import "github.com/gaspi-go/gaspi-go/gaspi/base"

// Absence returns why rank r, which has ended or is corrupt, does nothing any more, or nil.
func (t *Table) Absence(r base.Rank) error {
	if t.At(r).Absent() {
		return t.Why(r)
	}
	return nil
}

// FirstLost returns the loss of the first of ranks that died, or was lost although nobody told of
// its end, or nil.
func (t *Table) FirstLost(ranks []base.Rank) *base.RankError {
	if r, any := t.First(ranks, func(e *Entry) bool { return e.Absent() && !e.HasLeft() }); any {
		return t.Why(r)
	}
	return nil
}

// FirstLeft returns the end of the first in the list of ranks that left normally, or nil.
func (t *Table) FirstLeft(ranks []base.Rank) error {
	for _, r := range ranks {
		if e := t.At(r); e.State == Left {
			return e.End
		}
	}
	return nil
}

// Orphaned returns why a wait for any of others should end: one of them died or was lost,
// or all have left and the program has not acknowledged that. It returns nil if none should.
func (t *Table) Orphaned(others []base.Rank) error {
	if r, any := t.First(others, func(e *Entry) bool { return e.Corrupt && !e.HasLeft() }); any {
		return t.Why(r)
	}
	for _, r := range others {
		if !t.At(r).HasEnded() {
			return nil
		}
	}
	if len(others) == 0 || t.Acknowledged() {
		return nil
	}
	return &base.RankError{Rank: others[0], Reason: "it and all others that could write here have left the job"}
}
