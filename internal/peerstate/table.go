package peerstate

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A Table is what a rank knows of all ranks of its job. Its methods may be called by any
// goroutine; those that read take no lock.
type Table struct {
	peers  []atomic.Pointer[Entry] // index is the rank
	absent atomic.Int32            // ranks that have ended or are corrupt
	parted atomic.Int32            // ranks in state Parted

	mu           sync.Mutex // guards what follows, and is held while peers change
	turns        int32      // ranks that were lost or have ended
	ended        int32      // ranks that have ended
	acknowledged atomic.Bool
}

// New returns the table of a job of size ranks, all of which are alive.
func New(size int) *Table {
	t := &Table{peers: make([]atomic.Pointer[Entry], size)}
	alive := new(Entry)
	for r := range t.peers {
		t.peers[r].Store(alive)
	}
	return t
}

// At returns what is known of rank r, which must exist. The caller does not change it.
func (t *Table) At(r base.Rank) *Entry { return t.peers[r].Load() }

// AllPresent reports whether no rank has ended or is corrupt.
func (t *Table) AllPresent() bool { return t.absent.Load() == 0 }

// AnyParted reports whether some rank is lost to this one and nobody will tell of its end.
func (t *Table) AnyParted() bool { return t.parted.Load() > 0 }

// Broke notes that the connection with the rank that err names broke at a time.
func (t *Table) Broke(err *base.RankError, at time.Time) {
	t.apply(err.Rank, Event{Kind: Broke, Err: err, At: at})
}

// Failed notes that an operation found rank r gone, and reports whether r became corrupt by
// it. err, which may be nil, says why if it names r.
func (t *Table) Failed(r base.Rank, err *base.RankError) bool {
	before, after := t.apply(r, Event{Kind: Failed, Err: err})
	return !before.Corrupt && after.Corrupt
}

// Untold notes that nobody told of the end of rank r in time, and reports whether that is so.
func (t *Table) Untold(r base.Rank) bool {
	_, after := t.apply(r, Event{Kind: Untold})
	return !after.HasEnded()
}

// Unheard notes that nobody will tell of the end of rank r, and reports whether that is so.
func (t *Table) Unheard(r base.Rank) bool {
	_, after := t.apply(r, Event{Kind: Unheard})
	return !after.HasEnded()
}

// Ended notes how the rank that err names ended, and reports whether that was not known.
func (t *Table) Ended(err *base.RankError) bool {
	before, _ := t.apply(err.Rank, Event{Kind: Ended, Err: err})
	return !before.HasEnded()
}

// Quieted notes that nothing arrives any more of what rank r, which has ended, had sent.
func (t *Table) Quieted(r base.Rank) { t.apply(r, Event{Kind: Quieted}) }

// Pardoned notes that the program has dealt with what became of rank r.
func (t *Table) Pardoned(r base.Rank) { t.apply(r, Event{Kind: Pardoned}) }

// Acknowledge notes that the program knows which ranks have ended, until another one does.
func (t *Table) Acknowledge() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.acknowledged.Store(t.ended > 0)
}

// Acknowledged reports whether the program knows which ranks have ended.
func (t *Table) Acknowledged() bool { return t.acknowledged.Load() }

// First returns the first of ranks to have been lost or to have ended, of those that are
// chosen, and whether there is one: ranks often end because another one has.
func (t *Table) First(ranks []base.Rank, chosen func(*Entry) bool) (first base.Rank, any bool) {
	var turn int32
	for _, r := range ranks {
		if p := t.At(r); chosen(p) && (!any || p.Turn < turn) {
			first, turn, any = r, p.Turn, true
		}
	}
	return first, any
}

// Why returns how rank r ended or why it is corrupt, or, if it is Alive, that it is gone.
func (t *Table) Why(r base.Rank) *base.RankError {
	switch p := t.At(r); {
	case p.End != nil:
		return p.End
	case p.Cause != nil:
		return p.Cause
	}
	return &base.RankError{Rank: r, Reason: "an operation to it failed"}
}

// apply makes an event known of rank r, and returns what was known before and is after it.
func (t *Table) apply(r base.Rank, e Event) (before, after *Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before = t.peers[r].Load()
	next := before.After(r, e, t.turns+1)
	if next == *before {
		return before, before
	}
	t.turns = max(t.turns, next.Turn)
	if next.HasEnded() && !before.HasEnded() {
		t.ended++
		t.acknowledged.Store(false)
	}
	// The counts change first: a goroutine that finds the rank absent finds that not all are present.
	count(&t.absent, before.Absent(), next.Absent())
	count(&t.parted, before.State == Parted, next.State == Parted)
	t.peers[r].Store(&next)
	return before, &next
}

// count keeps a number of ranks up to date, of which one was counted and is to be.
func count(n *atomic.Int32, was, is bool) {
	switch {
	case is && !was:
		n.Add(1)
	case was && !is:
		n.Add(-1)
	}
}
