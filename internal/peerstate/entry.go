package peerstate

import (
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A State says how far a rank is gone. States only grow, but that the end of a rank may be told
// in any of them.
type State uint8

const (
	Alive   State = iota // nothing bad is known
	Suspect              // its connection broke, or an operation found it gone; its end may be told yet
	Lost                 // nobody told of its end in time
	Parted               // nobody will tell of its end: it is lost to this rank, and both may go on
	Left                 // it ended normally
	Dead                 // it ended otherwise
)

// String is the name of the state.
func (s State) String() string {
	return [...]string{"alive", "suspect", "lost", "parted", "left", "dead"}[s]
}

// An Entry is what is known of a rank. It does not change: events make another one of it.
type Entry struct {
	State   State
	Corrupt bool  // its entry in the state vector
	Quiet   bool  // it has ended, and nothing that it has sent arrives any more
	Turn    int32 // the how many-th rank to be lost or to end it was, from 1 on; 0 until then

	End      *base.RankError // how it ended, if State is Left or Dead
	Cause    *base.RankError // the last error that said it is gone; nil if none did
	Broken   *base.RankError // how the connection with it broke; nil if it did not
	BrokenAt time.Time       // when that was
}

// An Event is something that becomes known of a rank.
type Event struct {
	Kind EventKind
	Err  *base.RankError // of Broke, Failed and Ended; of Failed it may be nil, and name another rank
	At   time.Time       // of Broke
}

// An EventKind is what becomes known.
type EventKind uint8

const (
	Broke    EventKind = iota // the connection with it broke
	Failed                    // an operation found it gone
	Untold                    // nobody told of its end in time
	Unheard                   // nobody will tell of its end
	Ended                     // its end is told
	Quieted                   // nothing that it has sent arrives any more
	Pardoned                  // the program has dealt with what happened
)

// String is the name of the kind.
func (k EventKind) String() string {
	return [...]string{"broke", "failed", "untold", "unheard", "ended", "quieted", "pardoned"}[k]
}

// After returns what is known of rank r after an event; turn is the next number in the order of
// losses, which r takes if it was there before.
func (p Entry) After(r base.Rank, e Event, turn int32) Entry {
	switch e.Kind {
	case Broke:
		p.Broken, p.BrokenAt = e.Err, e.At
		p.State = max(p.State, Suspect)
	case Failed:
		if e.Err != nil && e.Err.Rank == r {
			p.Cause = e.Err
		}
		p.State = max(p.State, Suspect)
		p.Corrupt = true
		p.takeTurn(turn)
	case Untold:
		p.State = max(p.State, Lost)
	case Unheard:
		p.State = max(p.State, Parted)
	case Ended:
		p.end(e.Err, turn)
	case Quieted:
		p.Quiet = p.HasEnded()
	case Pardoned:
		p.Corrupt = false
	}
	return p
}

// takeTurn gives the rank its place in the order of losses, unless it has one.
func (p *Entry) takeTurn(turn int32) {
	if p.Turn == 0 {
		p.Turn = turn
	}
}

// end notes how the rank ended; the first end that is told counts. Ends are told in their
// order, so this is its place in the order of losses and not when operations found it gone,
// unless nobody told of it in time. A rank that the program has pardoned stays so: it was lost
// before, and connections that broke are not made again.
func (p *Entry) end(err *base.RankError, turn int32) {
	if p.HasEnded() {
		return
	}
	pardoned := p.Turn > 0 && !p.Corrupt
	if p.State < Lost {
		p.Turn = turn
	}
	p.takeTurn(turn)
	p.End, p.State = err, Left
	if !err.Left {
		p.State, p.Corrupt = Dead, !pardoned
	}
}

// HasEnded reports whether the end of the rank is told.
func (p *Entry) HasEnded() bool { return p.State >= Left }

// Judged reports whether it is known what became of the rank that an operation found gone: its
// end is told, or nobody told of it in time.
func (p *Entry) Judged() bool { return p.State >= Lost }

// Absent reports whether the rank has ended or is corrupt.
func (p *Entry) Absent() bool { return p.Corrupt || p.HasEnded() }

// Gone reports whether there is something to say of how the rank ended or why it is lost.
func (p *Entry) Gone() bool { return p.Absent() || p.Cause != nil }

// HasLeft reports whether the rank ended normally, as far as is known: an operation may find
// its connections closed before its end is told.
func (p *Entry) HasLeft() bool {
	if p.HasEnded() {
		return p.State == Left
	}
	return p.Cause != nil && p.Cause.Left
}
