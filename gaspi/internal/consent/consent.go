// Package consent is the agreement of the living members of a group on flags. It decides alone,
// from what members tell each other: package gaspi posts and awaits the notifications.
package consent

import (
	"math"

	"github.com/gaspi-go/gaspi-go/notify"
)

// An Agreement consists of notifications of each member at all others, in two parts:
//
//   - Each member tells all others its flags, and waits for those of all others that have
//     not ended.
//   - In the order of the members, each tells all others the flags that it has so far, and
//     the others take these over, unless it has ended.
//
// Members that have ended are known by what the launcher announced, which is always true,
// and only when nothing of theirs arrives any more. So all that are alive learn the same
// flags from the first one that is alive until the end, and keep these. It tolerates any
// number of deaths, at any moment, and takes as many messages as there are members, at
// each of them: see Chandra and Toueg, "Unreliable failure detectors for reliable
// distributed systems", J. ACM 43 (1996), section 6, of which this is the form for a
// perfect detector.
//
// The zero Agreement is one that has not begun. One goroutine at a time uses it.
type Agreement struct {
	active bool
	me, n  int
	part   int // of the two
	at     int // the next member in the part
	told   bool
	flags  uint32
}

// The parts of an agreement.
const (
	Telling = iota
	Adopting
	Parts // how many there are
)

// Flagged is set in notifications that carry flags, which are less. The others say which two
// members have lost each other: see Split.
const Flagged = 1 << 31

// An Action is what a member does next.
type Action struct {
	Part int
	Tell notify.Value // to tell all others in this part, before it awaits; 0 for nothing
	From int          // member to await in this part, or none if that is the caller
}

// Begin begins an agreement of n members, of which the caller is one, with its flags, unless one
// that ended early is to be finished first.
func (a *Agreement) Begin(me, n int, flags uint32) {
	if !a.active {
		*a = Agreement{active: true, me: me, n: n, flags: flags}
	}
}

// Active reports whether an agreement has begun and not ended.
func (a *Agreement) Active() bool { return a.active }

// Flags are those that are agreed on, when Next has reported the end.
func (a *Agreement) Flags() uint32 { return a.flags }

// Next returns the next step, and false if the agreement has ended. The caller has told what the
// step says when it calls Next again; it awaits the same member until it calls Take.
func (a *Agreement) Next() (Action, bool) {
	if a.at == a.n {
		a.at, a.told = 0, false
		if a.part++; a.part == Parts {
			a.active = false
		}
	}
	if !a.active {
		return Action{}, false
	}
	s := Action{Part: a.part, From: a.at}
	if !a.told && (a.part == Telling || a.at == a.me) {
		s.Tell, a.told = notify.Value(a.flags|Flagged), true
	}
	return s, true
}

// Take ends a step with what the member that was awaited has told, or 0 if it has ended instead or
// is the caller. v carries flags.
func (a *Agreement) Take(v notify.Value) {
	switch {
	case v == 0:
	case a.part == Telling:
		a.flags &= uint32(v)
	default:
		a.flags = uint32(v) &^ Flagged
	}
	a.at++
}

// A Split is two members that have lost each other, the one with the lower index first.
type Split struct{ A, B int }

// SplitOf is the split of two members.
func SplitOf(m, other int) Split { return Split{min(m, other), max(m, other)} }

// Value is the split in a notification: 1 more than its number among all splits in the order
// of B, and then of A. The numbers for 65536 members, the most of a job, are below Flagged.
func (x Split) Value() notify.Value { return notify.Value(x.B*(x.B-1)/2 + x.A + 1) }

// ReadSplit is the split with a value.
func ReadSplit(v notify.Value) Split {
	n := int(v) - 1
	b := int(math.Sqrt(float64(2*n))) + 1 // at most 1 too large
	if b*(b-1)/2 > n {
		b--
	}
	return Split{n - b*(b-1)/2, b}
}
