package faults

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A fault is what happens to a job.
type fault string

const (
	killed   fault = "kill"             // a rank is killed
	stopped  fault = "stop"             // a rank is stopped, and killed when it has been silent for too long
	host     fault = "host cut"         // a host is off the network
	link     fault = "link cut"         // two hosts do not reach each other
	oneWay   fault = "link cut one way" // one host does not reach another
	launcher fault = "launcher cut"     // a host and the launcher do not reach each other
	late     fault = "late"             // a rank comes very late, and nothing is wrong
)

// faultsOf are those that can happen to ranks that are connected in a way: "shm", all on
// one host; "tcp", each on its own; or "mixed".
func faultsOf(wires string) []fault {
	if wires == "shm" {
		return []fault{killed, stopped, late}
	}
	return []fault{killed, stopped, host, link, oneWay, launcher, late}
}

// A job is one that a fault concerns.
type job struct {
	fault  fault
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
