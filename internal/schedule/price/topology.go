package price

import (
	"math/bits"
	"slices"
)

// A Topology is where the ranks of a call are, as formulas ask for it: which messages go between
// nodes and how many ranks share a node and a host. It is for one goroutine at a time, as it
// remembers what it has counted, and is the same at all ranks.
type Topology struct {
	Ranks       int
	Nodes       int // that have ranks
	Most, Least int // ranks of the largest node, and of the smallest
	Larger      int // ranks of the larger of two nodes that follow each other; the least of all such
	Host        int // ranks of the largest host, which share its cores
	Connections int // that end on one host, at most: those to each of its ranks from all of other nodes

	first int // ranks of the node of rank 0
	pairs int // messages from each rank to all of other nodes: all of them,
	out   int // and those that leave a node, of the node that most leave

	node   []int32
	even   bool    // nodes are consecutive ranks, as many on each but the last
	counts []int32 // room, by node
	sizes  []int32 // ranks of each node
	routes map[routeKey]Route
	halves []float64 // throughHalves; nil before it was looked at

	trees  map[treeKey]*rankTree
	length []uint16 // room of trees: of the way to a rank, the edges between nodes in the upper byte, and all in the lower one
	ends   []end    // likewise, of each node
}

// A routeKey says to whom ranks send: of group ranks at multiples of a distance, to all others. A
// group of 0 is the ring, on which each sends to the one rank at that distance, and one of halves
// is Halves. Extra is as for Group.
type routeKey struct{ distance, group, extra int }

// A Route is where the messages of a stage go.
type Route struct {
	Far  float64 // part of the messages on the longest path that go to another node
	Part float64 // the same of all messages,
	Most float64 // and of those of the rank that sends most of them
	Out  float64 // messages that leave a node when each sender sends one, of the node that sends most
	// Spare is how many of those do not leave, or reach, the node whose ports have most to do in all stages together.
	Spare float64
	Host  float64 // ranks of the host that the longest path is on there; 0 means the largest
	ring  int     // the distance of Ring and Line, else 0
	line  bool    // it is of Line
}

// NewTopology returns the topology of calls of size ranks, with the node and the host of each. Nil
// nodes mean that so many consecutive ranks share a node as the machine says; nil hosts are the
// nodes. Its time is proportional to the number of ranks.
func NewTopology(m *Machine, size int, nodes, hosts []int) (*Topology, error) {
	of, count, err := nodeOf(m, size, nodes)
	if err != nil {
		return nil, err
	}
	s := &Topology{Ranks: size, node: of, counts: make([]int32, count), routes: make(map[routeKey]Route), trees: make(map[treeKey]*rankTree)}
	s.countNodes()
	if hosts == nil {
		s.Host = s.Most
		for _, n := range s.counts {
			s.Connections = max(s.Connections, int(n)*(size-int(n)))
		}
		return s, nil
	}
	of, count, err = nodeOf(m, size, hosts)
	if err != nil {
		return nil, err
	}
	ranks, ends := make([]int, count), make([]int, count)
	for r, h := range of {
		ranks[h]++
		ends[h] += size - int(s.counts[s.node[r]])
		s.Host, s.Connections = max(s.Host, ranks[h]), max(s.Connections, ends[h])
	}
	return s, nil
}

// countNodes counts the ranks of all nodes, and finds out whether it is the same on all.
func (s *Topology) countNodes() {
	for _, n := range s.node {
		if s.counts[n]++; s.counts[n] == 1 {
			s.Nodes++
		}
		s.Most = max(s.Most, int(s.counts[n]))
	}
	s.sizes = slices.Clone(s.counts)
	s.Least, s.first = s.Most, int(s.counts[s.node[0]])
	for _, n := range s.counts {
		if n > 0 {
			s.Least = min(s.Least, int(n))
			leaving := int(n) * (s.Ranks - int(n))
			s.pairs, s.out = s.pairs+leaving, max(s.out, leaving)
		}
	}
	s.Larger = s.larger()
	s.even = true
	for r := 1; r < s.Ranks && s.even; r++ {
		s.even = (s.node[r] != s.node[r-1]) == (r%s.Most == 0)
	}
}

// larger returns Larger. The first node follows the last.
func (s *Topology) larger() int {
	sizes := slices.DeleteFunc(slices.Clone(s.counts), func(n int32) bool { return n == 0 })
	least := int32(s.Most)
	for i, n := range sizes {
		least = min(least, max(n, sizes[(i+1)%len(sizes)]))
	}
	return int(least)
}

// Ring is the route of ranks that each send to the rank at a distance, around the ring. As the
// longest path moves on by that distance from stage to stage, it leaves nodes as often as the
// mean rank does.
func (s *Topology) Ring(distance int) Route {
	if s.Nodes == 1 {
		return Route{}
	}
	distance %= s.Ranks
	if s.even {
		near := max(0, s.Most-distance, s.Most-(s.Ranks-distance)) // ranks of a node that send within it
		part := float64(s.Most-near) / float64(s.Most)
		return Route{Far: part, Part: part, Most: 1, Out: float64(s.Most - near), ring: distance}
	}
	at := routeKey{distance, 0, 0}
	if r, ok := s.routes[at]; ok {
		return r
	}
	clear(s.counts)
	far, out := 0, int32(0)
	for r, n := range s.node {
		to := r + distance
		if to >= s.Ranks {
			to -= s.Ranks
		}
		if s.node[to] != n {
			far++
			s.counts[n]++
			out = max(out, s.counts[n])
		}
	}
	part := float64(far) / float64(s.Ranks)
	most := 0.0
	if far > 0 {
		most = 1
	}
	route := Route{Far: part, Part: part, Most: most, Out: float64(out), ring: distance}
	s.routes[at] = route
	return route
}

// Rings is the route of ranks that each send to so many others, at a distance, twice as far and so on, around the ring.
func (s *Topology) Rings(distance, peers int) Route {
	if peers == 1 {
		return s.Ring(distance)
	}
	return s.counted(routeKey{distance, peers, around}, s.Ranks, peers, func(r, d int) (from, to int) {
		if to = r + d*distance; to >= s.Ranks {
			to -= s.Ranks
		}
		return r, to
	})
}

// Group is the route of ranks that differ in one digit of their number, which has so many
// values and that weight, and each send to all others. A rank that waits for all of a group waits
// for those of other nodes. Of so many extra ranks at the beginning, every second has no number.
func (s *Topology) Group(distance, values, extra int) Route {
	rank := func(number int) int { return min(2*number+1, number+extra) }
	numbers := s.Ranks - extra
	return s.counted(routeKey{distance, values, extra}, numbers, values-1, func(n, d int) (from, to int) {
		digit := n / distance % values
		if to = n + ((digit+d)%values-digit)*distance; to >= numbers {
			to = n
		}
		return rank(n), rank(to)
	})
}

// Halves is the route of ranks that are cut into a lower and an upper half, of which the lower one has a rank more if
// their number is odd, and so are those halves, so often as said before: each sends to its partner in the other half,
// and the rank that has none to the last one of that.
func (s *Topology) Halves(before int) Route {
	route := s.counted(routeKey{before, halves, 0}, s.Ranks, 1, func(me, _ int) (from, to int) { return me, s.half(me, before) })
	if route.Out > 0 && s.Ranks <= countedMessages {
		route.Far = s.throughHalves(before)
	}
	return route
}

// throughHalves is how often the longest path leaves a node in one step of all halves: in the mean of two runs, of which a
// rank begins the second when it has ended the first. Ranks without a partner in some step let others go ahead.
func (s *Topology) throughHalves(before int) float64 {
	if s.halves == nil {
		s.halves = make([]float64, bits.Len(uint(s.Ranks-1)))
		w := s.ways()
		for range 2 {
			for k := range s.halves {
				s.halves[k] += float64(w.step(func(r int) int { return s.half(r, k) })) / 2
			}
		}
	}
	return s.halves[before]
}

// half is to whom a rank sends when halves have been cut so often, itself if to nobody.
func (s *Topology) half(me, before int) int {
	lo, hi := 0, s.Ranks
	for range before {
		if mid := hi - (hi-lo)/2; me < mid {
			hi = mid
		} else {
			lo = mid
		}
	}
	lower := hi - (hi-lo)/2 - lo
	switch {
	case hi-lo < 2:
		return me
	case me < lo+lower:
		return min(me+lower, hi-1)
	}
	return me - lower
}

// These stand for what is no group in a routeKey: the last one as extra, others as group.
const (
	halves   = -1
	oneRound = -2
	reversed = -3
	around   = -4
	smaller  = -5
)

// Rounds is the route of each round of an exchange, in which each rank sends to one other: other nodes send most in
// other rounds. A sample of many rounds is looked at.
func (s *Topology) Rounds(rounds int, to func(rank, round int) int) Route {
	route := s.Everybody()
	route.Far = route.Part
	if s.Nodes == 1 || s.even {
		return route
	}
	out, looked := 0.0, min(rounds, countedSenders)
	for k := range looked {
		round := 1 + k*rounds/looked
		out += s.counted(routeKey{round, oneRound, 0}, s.Ranks, 1, func(r, _ int) (int, int) { return r, to(r, round) }).Out
	}
	route.Out = out / float64(looked)
	return route
}

// Reversed is the route of a power of two of ranks that each send to the one whose number has the same bits in reverse
// order.
func (s *Topology) Reversed() Route {
	shift := 65 - bits.Len(uint(s.Ranks))
	return s.counted(routeKey{0, reversed, 0}, s.Ranks, 1, func(r, _ int) (from, to int) { return r, int(bits.Reverse64(uint64(r)) >> shift) })
}

// counted is the route of so many messages of each of n senders, to the sender itself if there is none. If that are
// many, a sample of senders is looked at, and the largest node sends as much as its ranks are of all.
func (s *Topology) counted(at routeKey, n, each int, message func(sender, i int) (from, to int)) Route {
	if s.Nodes == 1 || each < 1 {
		return Route{}
	}
	if r, ok := s.routes[at]; ok {
		return r
	}
	clear(s.counts)
	looked, shift := n, 0
	if n*each > countedMessages {
		looked, shift = min(n, countedSenders), 1 // not all the first of their nodes
	}
	all, far, most, out := 0, 0, 0, int32(0)
	for k := range looked {
		before, sender := far, (k*n/looked+k*shift)%n
		for i := range each {
			from, to := message(sender, i+1)
			if to == from {
				continue
			}
			if all++; s.node[from] != s.node[to] {
				far++
				s.counts[s.node[from]]++
				out = max(out, s.counts[s.node[from]])
			}
		}
		most = max(most, far-before)
	}
	var route Route
	if far > 0 {
		part := float64(far) / float64(all)
		route = Route{Far: 1, Part: part, Most: float64(most) / float64(each), Out: float64(out) / float64(each)}
		if looked < n {
			route.Out = float64(s.Most) * part
		}
	}
	s.routes[at] = route
	return route
}

// countedMessages is how many messages are all counted, and countedSenders how many senders are looked at if there are more.
const (
	countedMessages = 1 << 10
	countedSenders  = 1 << 6
)

// Star is the route of messages between rank 0 and all others.
func (s *Topology) Star() Route {
	if s.Nodes == 1 {
		return Route{}
	}
	part := float64(s.Ranks-s.first) / float64(s.Ranks-1)
	return Route{Far: 1, Part: part, Most: part, Out: part}
}

// Everybody is the route of ranks that each send to all others.
func (s *Topology) Everybody() Route {
	if s.Nodes == 1 {
		return Route{}
	}
	others := float64(s.Ranks - 1)
	return Route{
		Far: 1, Part: float64(s.pairs) / others / float64(s.Ranks), Most: float64(s.Ranks-s.Least) / others, Out: float64(s.out) / others,
	}
}

// Leaving is how many messages leave the node that most leave, or reach it, if each rank from first on has as many as said
// with ranks of all nodes. It asks once for each rank, one after the other, and remembers the answer by the first.
func (s *Topology) Leaving(first int, messages func(rank int) int) float64 {
	if s.Nodes == 1 {
		return 0
	}
	at := routeKey{first, smaller, 0}
	if r, ok := s.routes[at]; ok {
		return r.Out
	}
	clear(s.counts)
	most := int32(0)
	for r := first; r < s.Ranks; r++ {
		s.counts[s.node[r]] += int32(messages(r))
		most = max(most, s.counts[s.node[r]])
	}
	out := float64(most) * s.Everybody().Part
	s.routes[at] = Route{Out: out}
	return out
}

// OnHost is how many of count ranks, spread over all, are on a host.
func (s *Topology) OnHost(count float64) float64 {
	return max(1, count*float64(s.Host)/float64(s.Ranks))
}
