package faults

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A faultKind is what happens to a job.
type faultKind string

const (
	killed   faultKind = "kill"             // a rank is killed
	stopped  faultKind = "stop"             // a rank is stopped, and killed when it has been silent for too long
	host     faultKind = "host cut"         // a host is off the network
	link     faultKind = "link cut"         // two hosts do not reach each other
	oneWay   faultKind = "link cut one way" // one host does not reach another
	launcher faultKind = "launcher cut"     // a host and the launcher do not reach each other
	late     faultKind = "late"             // a rank comes very late, and nothing is wrong
)

// faultsOf are those that can happen to ranks that are connected in a way: "shm", all on
// one host; "tcp", each on its own; or "mixed".
func faultsOf(wires string) []faultKind {
	if wires == "shm" {
		return []faultKind{killed, stopped, late}
	}
	return []faultKind{killed, stopped, host, link, oneWay, launcher, late}
}

// A job is one that a fault concerns.
type job struct {
	fault  faultKind
	hosts  []int      // index is the rank
	victim gaspi.Rank // which is killed, stopped or late, or whose host is cut off
	other  gaspi.Rank // of the host at the other end of a link that is cut
}

// lost are the ranks that rank r may have lost by the fault, but itself.
func (j *job) lost(r gaspi.Rank) []gaspi.Rank {
	var ranks []gaspi.Rank
	for x := range gaspi.Rank(len(j.hosts)) {
		if x != r && j.loses(r, x) {
			ranks = append(ranks, x)
		}
	}
	return ranks
}

// lostToSome reports whether some other rank may have lost rank r by the fault.
func (j *job) lostToSome(r gaspi.Rank) bool {
	for x := range gaspi.Rank(len(j.hosts)) {
		if x != r && j.loses(x, r) {
			return true
		}
	}
	return false
}

func (j *job) loses(r, x gaspi.Rank) bool {
	at, there, cut := j.hosts[r], j.hosts[x], j.hosts[j.victim]
	switch j.fault {
	case killed, stopped:
		return x == j.victim
	case host:
		return (at == cut) != (there == cut)
	case link, oneWay:
		far := j.hosts[j.other]
		return at == cut && there == far || at == far && there == cut
	case launcher:
		return at != cut && there == cut
	}
	return false
}

// orphans reports whether rank r loses the launcher.
func (j *job) orphans(r gaspi.Rank) bool {
	return (j.fault == host || j.fault == launcher) && j.hosts[r] == j.hosts[j.victim]
}

// dies reports whether rank r ends by the fault itself.
func (j *job) dies(r gaspi.Rank) bool {
	return (j.fault == killed || j.fault == stopped) && r == j.victim
}

// A verdict is how calls of a rank have to end.
type verdict int

const (
	goesOn verdict = iota // without an error
	either                // with or without: the launcher is gone, which not every call needs
	fails                 // with an error, as soon as a rank that it needs is lost
)

// verdict is that on calls of rank r, where needs tells whom calls of a rank need.
func (j *job) verdict(r gaspi.Rank, needs func(gaspi.Rank) []gaspi.Rank) verdict {
	lost := func(r gaspi.Rank) bool {
		lost := j.lost(r)
		return slices.ContainsFunc(needs(r), func(x gaspi.Rank) bool { return slices.Contains(lost, x) })
	}
	// Ranks whose calls fail end with the error, and others may need them.
	left := func(x gaspi.Rank) bool { return lost(x) || j.orphans(x) }
	switch {
	case j.dies(r) || j.orphans(r):
		return either
	case lost(r):
		return fails
	case len(needs(r)) > 1 && slices.ContainsFunc(needs(r), left):
		return fails
	}
	return goesOn
}

// neededBy are the ranks that a call of rank r needs, but itself; groups has the group of
// each rank.
func neededBy(x *row, groups []int, shift int, r gaspi.Rank) []gaspi.Rank {
	var group, all, needed []gaspi.Rank
	me := 0
	for o, g := range groups {
		all = append(all, gaspi.Rank(o))
		if g == groups[r] {
			if gaspi.Rank(o) == r {
				me = len(group)
			}
			group = append(group, gaspi.Rank(o))
		}
	}
	switch x.needs {
	case needsPeer:
		needed = []gaspi.Rank{group[(me+shift)%len(group)]}
	case needsTeam:
		needed = group
	case needsJob:
		needed = all
	}
	return slices.DeleteFunc(needed, func(o gaspi.Rank) bool { return o == r })
}
