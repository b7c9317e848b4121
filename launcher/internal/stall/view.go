// Package stall says from what ranks tell of themselves which of them holds up the others, and why.
//
// It is pure: it reads no clock and no file, and knows neither hosts' agents nor processes. Package
// launcher gathers what it is given.
package stall

import (
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/status"
)

// A View is what is known of one rank at some time.
type View struct {
	Rank  base.Rank
	Host  string
	State State
	Why   string        // of Gone: how the rank has ended; of Absent: the call in which it is, if it has come as far
	For   time.Duration // of Computing and Silent: how long it has been so
	Waits []WaitingCall // the longest first; not empty if the state is Waiting or Collective
}

// A State says what a rank does.
type State int

// The states. A rank that is Gone or has Left, and one that is Silent, ends no wait of another one.
const (
	Absent     State = iota // it runs, and has not come to gaspi.Init or does not get on in it
	Computing               // it has joined and is in no call that has waited for long
	Waiting                 // it waits in a call of its own
	Collective              // it waits in a call of a group
	Silent                  // it has told nothing for long: it is stopped, or gets no processor
	Left                    // it has left the job, and runs
	Gone                    // it has ended
)

var stateNames = [...]string{"not joined", "computing", "waiting", "in collective", "silent", "left", "gone"}

// String is the state as tables show it.
func (s State) String() string { return stateNames[s] }

// A WaitingCall is a call of a rank that waits.
type WaitingCall struct {
	Name, Detail string
	Place        string        // file and line
	Group        string        // whose collective call it is; empty if it is none
	For          time.Duration // so far, or until it ended a moment ago
	From         []base.Rank   // that can end the wait
	More         int           // of those, which are not named
	Any          bool          // one of them is enough
}

// silence is how old a row is that a rank writes twice a second and more, before it counts as silent.
const silence = 5 * time.Second

// Of returns what a row says of a rank, when the clock of its host says now. The zero RankRow is that of
// a rank that has not joined.
func Of(rank base.Rank, host string, row status.RankRow, now time.Time) View {
	v := View{Rank: rank, Host: host}
	switch {
	case row.Beat.IsZero():
		return v
	case row.Closed:
		v.State = Left
		return v
	case now.Sub(row.Beat) > silence:
		v.State, v.For = Silent, now.Sub(row.Beat)
	case len(row.Waits) == 0:
		v.State, v.For = Computing, max(0, now.Sub(row.Moved))
	case row.Waits[0].Group != "":
		v.State = Collective
	default:
		v.State = Waiting
	}
	for _, w := range row.Waits {
		until := now
		if !w.Until.IsZero() {
			until = w.Until
		}
		v.Waits = append(v.Waits, WaitingCall{
			Name: w.Call, Detail: w.Detail, Place: w.Place, Group: w.Group, For: max(0, until.Sub(w.Since)),
			From: slices.Sorted(slices.Values(w.From)), More: w.More, Any: w.Any,
		})
	}
	return v
}

// initCall is the call in which all ranks meet.
const initCall = "gaspi.Init"

// Meet tells the views of ranks that have told nothing of themselves what they do in gaspi.Init, where all ranks meet.
// since says since when each rank has waited there for the others, as far as that counts at the time now: the zero time
// of one that does not wait. absent are the ranks that have not come to gaspi.Init.
func Meet(views []View, since []time.Time, absent []base.Rank, now time.Time) {
	var late []base.Rank
	for r, t := range since {
		if t.IsZero() && views[r].State == Absent {
			late = append(late, base.Rank(r))
		}
	}
	for i := range views {
		v := &views[i]
		switch {
		case v.State != Absent || slices.Contains(absent, v.Rank):
		case i < len(since) && !since[i].IsZero():
			v.State = Collective
			v.Waits = []WaitingCall{{Name: initCall, Group: "world", For: max(0, now.Sub(since[i])), From: late}}
		default:
			v.Why = initCall
		}
	}
}

// waits reports whether the rank waits in a call.
func (v *View) waits() bool { return v.State == Waiting || v.State == Collective }

// Longest returns how long the longest wait of all has lasted, 0 without any.
func Longest(views []View) (longest time.Duration) {
	for i := range views {
		if v := &views[i]; v.waits() {
			longest = max(longest, v.Waits[0].For)
		}
	}
	return longest
}
