package topology

import (
	"iter"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

const (
	// fanout is how many children a rank has on its host. Local ranks that share cores pay
	// for each level with a turn of the scheduler, so few levels win.
	fanout = 16
	// crowdFanout is how many children a rank has in a barrier on a host whose ranks share memory and cores. With one
	// level a barrier of 32 ranks on 2 cores took about half as long as with two, and of 128 0.4 to 0.75 times.
	crowdFanout = 256
	// hostFanout is how many children a leader has on other hosts, where each costs it a
	// message that only this one core sends or takes.
	hostFanout = 4
	// leaderRadix is how many leaders of hosts know of each other after the first round of a barrier.
	leaderRadix = 4
)

// Slots of a member in a tree: one for each child, from 0 on, and ParentSlot.
const (
	ParentSlot = fanout + hostFanout
	TreeSlots  = ParentSlot + 1 // how many there are
)

// A placement is where the members of a group are, as one of them sees it. Members are numbered in the
// order of their ranks.
type placement struct {
	local   []int // members of its host, ascending; the first one leads
	at      int   // its index in local
	leaders []int // of all hosts, ascending
	count   []int // index as in leaders: members of the host
	host    int   // index of its own
	atOnce  bool  // all of them are here, and few enough to signal each other
	fanout  int   // children in a barrier on the host
}

// placement returns where the members with these ranks are, as member me sees it.
func (h *Hosts) placement(ranks []base.Rank, me int) placement {
	p := placement{fanout: h.barrierFanout()}
	mine := h.On(ranks[me])
	index := make(map[int32]int)
	for m, r := range ranks {
		host := h.On(r)
		i, known := index[host]
		if !known {
			i = len(p.leaders)
			index[host] = i
			p.leaders, p.count = append(p.leaders, m), append(p.count, 0)
		}
		p.count[i]++
		if host != mine {
			continue
		}
		if m == me {
			p.at, p.host = len(p.local), i
		}
		p.local = append(p.local, m)
	}
	p.atOnce = len(p.leaders) == 1 && h.meetAtOnce(len(p.local))
	return p
}

// A Tree has the neighbours of a member in a tree over its group. Members of one host form a tree
// with 16 children each, in their order; the first one of each host leads it, and the leaders form a
// tree with 4 children each.
type Tree struct {
	Parent   int // -1 for the first member
	Slot     int // of this member at its parent
	Children []int
	// Partners are the members that it meets in a commit: its neighbours, or all others where few
	// meet at once, so that errors name the one that is missing.
	Partners []int
	// Hearers are the members that hear first from this one that the group is revoked, or that
	// somebody has left: successors, partners, those it meets in barriers, and leaders that it signals. Ascending.
	Hearers []int
}

// Tree returns the neighbours of member me of the group with these ranks.
func (h *Hosts) Tree(ranks []base.Rank, me int) Tree {
	p := h.placement(ranks, me)
	return p.tree()
}

func (p *placement) tree() Tree {
	var t Tree
	t.Parent, t.Slot, t.Children = p.neighbours(fanout)
	if p.at == 0 {
		t.Children = append(t.Children, childrenIn(p.leaders, p.host, hostFanout)...)
	}
	if p.at == 0 && p.host > 0 {
		above := (p.host - 1) / hostFanout
		t.Parent = p.leaders[above]
		t.Slot = min(fanout, p.count[above]-1) + (p.host-1)%hostFanout
	}
	switch {
	case p.atOnce:
		t.Partners = slices.Delete(slices.Clone(p.local), p.at, p.at+1)
	case t.Parent < 0:
		t.Partners = t.Children
	default:
		t.Partners = append([]int{t.Parent}, t.Children...)
	}
	t.Hearers = p.hearers(t.Partners)
	return t
}

func (p *placement) hearers(partners []int) []int {
	me, n := p.local[p.at], 0
	for _, count := range p.count {
		n += count
	}
	parent, _, hearers := p.neighbours(p.fanout)
	if parent >= 0 {
		hearers = append(hearers, parent)
	}
	hearers = slices.AppendSeq(append(hearers, partners...), Successors(me, n))
	if p.at == 0 {
		for i := range successors(p.host, len(p.leaders), leaderRadix) {
			hearers = append(hearers, p.leaders[i])
		}
	}
	slices.Sort(hearers)
	return slices.Compact(hearers)
}

// neighbours returns those of the member in a tree of its host in which each has as many children as fit below most: its
// parent, -1 for the leader, its place among the children of that, and its own.
func (p *placement) neighbours(most int) (parent, place int, children []int) {
	children = childrenIn(p.local, p.at, most)
	if p.at == 0 {
		return -1, 0, children
	}
	return p.local[(p.at-1)/most], (p.at - 1) % most, children
}

// childrenIn returns the children of the at-th of members in a tree of these, in which each has
// as many as fit below most.
func childrenIn(members []int, at, most int) []int {
	first := min(at*most+1, len(members))
	last := min(first+most, len(members))
	return append([]int(nil), members[first:last]...)
}

// Successors returns the members of a circle of n that member me passes news on to. If one of
// them does, all learn of it: each has at least 15, where there are so many.
func Successors(me, n int) iter.Seq[int] { return successors(me, n, fanout) }

// successors are the members, of n, at distances j x radix^k of member me, j below radix.
func successors(me, n, radix int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for stride := 1; stride < n; stride *= radix {
			for distance := stride; distance < min(stride*radix, n); distance += stride {
				if !yield((me + distance) % n) {
					return
				}
			}
		}
	}
}
