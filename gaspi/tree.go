package gaspi

import "slices"

// A tree is how something goes up from the members of a group to the first one and
// comes back down. Members of one host form a tree with fanout children each, in their order;
// the first one of each host leads it, and the leaders form a tree with hostFanout
// children each. A member has a slot for each of its children, and one for its parent.
type tree struct {
	g        *Group
	has      func(slot int) bool // something has come into a slot
	upStop   func() error        // asked by waits for the children whether they should end
	downStop func() error        // likewise for the parent
}

// A treeStage is how far a member has come.
type treeStage int

const (
	gathering  treeStage = iota // waiting for the children
	delivering                  // to the parent
	awaiting                    // the result
	spreading                   // the result to the children
)

const (
	// fanout is how many children a rank has on its host. Local ranks that share cores pay
	// for each level with a turn of the scheduler, so few levels win.
	fanout = 16
	// hostFanout is how many children a leader has on other hosts, where each costs it a
	// message that only this one core sends or takes.
	hostFanout = 4

	slotResult = fanout + hostFanout // the slot for the parent; those for the children are below
	treeSlots  = slotResult + 1
)

// neighbours are the neighbours of a member in the tree of a group, and those it meets in a commit:
// its neighbours, or all others where few meet at once, so that errors name the one that is missing.
type neighbours struct {
	parent   int // -1 for the first member
	slot     int // of this member at its parent
	children []int
	partners []int
	hearers  []int // ascending: successors, partners, and leaders that this one signals
}

// A placement is where the members of a group are, as one of them sees it.
type placement struct {
	local   []int // members of its host, ascending; the first one leads
	at      int   // its index in local
	leaders []int // of all hosts, ascending
	count   []int // index as in leaders: members of the host
	host    int   // index of its own
	atOnce  bool  // all of them are here, and few enough to signal each other
}

// placement returns where the members are.
func (g *Group) placement() placement {
	var s placement
	h := &g.p.hosts
	mine := h.on(g.ranks[g.me])
	index := make(map[int32]int)
	for m, r := range g.ranks {
		host := h.on(r)
		i, known := index[host]
		if !known {
			i = len(s.leaders)
			index[host] = i
			s.leaders, s.count = append(s.leaders, m), append(s.count, 0)
		}
		s.count[i]++
		if host != mine {
			continue
		}
		if m == g.me {
			s.at, s.host = len(s.local), i
		}
		s.local = append(s.local, m)
	}
	s.atOnce = len(s.leaders) == 1 && h.meetAtOnce(len(s.local))
	return s
}

// meetAtOnce reports whether n members of one host signal each other and use no tree: that
// takes one step in place of two, and n(n-1) signals in place of 2(n-1), which counts where
// ranks share cores, and where each signal is a message.
func (h *hosts) meetAtOnce(n int) bool {
	switch {
	case h.memory && h.cores:
		return n <= fanout
	case h.memory || h.cores:
		return n <= 4
	}
	return n <= 2
}

// neighbours returns the neighbours of the member.
func (s *placement) neighbours() neighbours {
	r := neighbours{parent: -1, children: childrenIn(s.local, s.at, fanout)}
	if s.at > 0 {
		r.parent, r.slot = s.local[(s.at-1)/fanout], (s.at-1)%fanout
	} else {
		r.children = append(r.children, childrenIn(s.leaders, s.host, hostFanout)...)
	}
	if s.at == 0 && s.host > 0 {
		above := (s.host - 1) / hostFanout
		r.parent = s.leaders[above]
		r.slot = min(fanout, s.count[above]-1) + (s.host-1)%hostFanout
	}
	switch {
	case s.atOnce:
		r.partners = slices.Delete(slices.Clone(s.local), s.at, s.at+1)
	case r.parent < 0:
		r.partners = r.children
	default:
		r.partners = append([]int{r.parent}, r.children...)
	}
	r.hearers = s.hearers(r.partners)
	return r
}

// hearers returns the members that hear first from this one that the group is revoked, or that
// somebody has left.
func (s *placement) hearers(partners []int) []int {
	me, n := s.local[s.at], 0
	for _, count := range s.count {
		n += count
	}
	hearers := slices.AppendSeq(slices.Clone(partners), successors(me, n, fanout))
	if s.at == 0 {
		for i := range successors(s.host, len(s.leaders), leaderRadix) {
			hearers = append(hearers, s.leaders[i])
		}
	}
	slices.Sort(hearers)
	return slices.Compact(hearers)
}

// childrenIn returns the children of the at-th of members in a tree of these, in which each has
// as many as fit below most.
func childrenIn(members []int, at, most int) []int {
	first := min(at*most+1, len(members))
	last := min(first+most, len(members))
	return append([]int(nil), members[first:last]...)
}

func (t *tree) plant(g *Group, has func(slot int) bool) {
	t.g, t.has = g, has
	t.upStop, t.downStop = t.whyUp, t.whyDown
}

func (t *tree) parent() int     { return t.g.near.parent }
func (t *tree) children() []int { return t.g.near.children }

// missing are the children from which nothing has come.
func (t *tree) missing() []Rank {
	var ranks []Rank
	for slot, child := range t.children() {
		if !t.has(slot) {
			ranks = append(ranks, t.g.ranks[child])
		}
	}
	return ranks
}

// whyUp and whyDown are like barrier.why.
func (t *tree) whyUp() error {
	return t.g.overWithout(t.missing)
}

func (t *tree) whyDown() error {
	return t.g.overWithout(func() []Rank {
		if t.has(slotResult) {
			return nil
		}
		return []Rank{t.g.ranks[t.parent()]}
	})
}
