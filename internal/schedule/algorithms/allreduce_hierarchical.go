package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allReduceHierarchical is a ring of hosts, each of which does its share with all
// its ranks. The vector is cut into a chunk per host, and each chunk into a piece
// per rank of a host. In the first stage partial folds go from host to host, and a
// rank adds to its piece the contributions of all ranks of its host, in one pass,
// straight from their memory; in the second the results go round, and a rank copies
// its piece to the results of its host's ranks. If hosts have different numbers of
// ranks, a piece is sent in parts to the ranks that its elements belong to. On one
// host, it is allReduceDirect.
//
// Cost: 2(H-1) steps for H hosts; each host sends 2n(H-1)/H elements, divided among
// its ranks; a rank combines n/m elements from each of the m ranks of its host; n/m
// elements of scratch. If hosts differ, that is nM/L: the largest host has M ranks, and
// the larger of any two that follow each other at least L. Two signals per peer on the
// host.
// Credits across hosts are not needed: who has the result of an element knows that the
// ranks that it belongs to at all hosts have folded it in this run, and what is
// written to scratch comes from one rank alone at each place.
func allReduceHierarchical(b *schedule.Builder, c *schedule.Call) {
	t := claimHostRing(b, c)
	for _, r := range t.peers() {
		b.Signal(r, t.ready+t.place)
	}
	for i := range t.ranks[t.host] {
		if i != t.place {
			b.Await(t.ready + i)
		}
	}
	t.reduceScatter()
	t.allGather()
	for _, r := range t.peers() {
		b.Signal(r, t.done+t.place)
	}
	for i := range t.ranks[t.host] {
		if i != t.place {
			b.Await(t.done + i)
		}
	}
}

// hostRing is what a rank needs.
type hostRing struct {
	hosts
	b       *schedule.Builder
	n       int
	steps   int
	arrived [][]schedule.Memory // of each step, by the place of the sender
	scatter int                 // slots of each step, by the place of the sender
	gather  int                 // the same
	ready   int                 // by the place of the sender, as done
	done    int
}

func claimHostRing(b *schedule.Builder, c *schedule.Call) *hostRing {
	t := &hostRing{hosts: hostsOf(c, b.Rank()), b: b, n: c.Count}
	t.steps = len(t.ranks) - 1
	longest := 0
	for host := range t.ranks { // a part is of a piece there, and of one on the next host
		next := mod(host+1, len(t.ranks))
		longest = max(longest, min(t.piece(t.n, 0, host, 0).Len, t.piece(t.n, 0, next, 0).Len))
	}
	senders := t.most
	if t.even {
		senders = 1
	}
	for range t.steps {
		t.arrived = append(t.arrived, eachScratch(b, senders, longest))
	}
	t.scatter, t.gather = b.Slots(t.steps*t.most), b.Slots(t.steps*t.most)
	t.ready, t.done = b.Slots(t.most), b.Slots(t.most)
	return t
}

// from is what has arrived in a step, at a rank, from a place of the host before.
func (t *hostRing) from(step, place int) schedule.Memory {
	if t.even {
		place = 0
	}
	return t.arrived[step][place]
}

// peers are the other ranks of the host, the next first.
func (t *hostRing) peers() []int {
	mates := t.ranks[t.host]
	var all []int
	for d := 1; d < len(mates); d++ {
		all = append(all, mates[mod(t.place+d, len(mates))])
	}
	return all
}

// mine is the rank's piece of a chunk.
func (t *hostRing) mine(chunk int) schedule.Range { return t.piece(t.n, chunk, t.host, t.place) }

// out is part of a rank's result.
func (t *hostRing) out(rank int, r schedule.Range) schedule.Region {
	return t.b.Out(rank, r.Off, r.Len)
}

// send calls put for each rank of the next host that part of the rank's piece of a
// chunk belongs to: with its place, that part, and where it is in that rank's piece.
func (t *hostRing) send(chunk int, put func(rank int, part schedule.Range)) {
	next := mod(t.host+1, len(t.ranks))
	for place, rank := range t.ranks[next] {
		if part := overlap(t.mine(chunk), t.piece(t.n, chunk, next, place)); part.Len > 0 {
			put(rank, part)
		}
	}
}

// receive calls got for each rank of the host before that has sent part of the rank's
// piece of a chunk, once it is there.
func (t *hostRing) receive(chunk, slot int, got func(place int, part schedule.Range)) {
	last := mod(t.host-1, len(t.ranks))
	for place := range t.ranks[last] {
		if part := overlap(t.mine(chunk), t.piece(t.n, chunk, last, place)); part.Len > 0 {
			t.b.Await(slot + place)
			got(place, part)
		}
	}
}

// fold stores in the rank's result, or in those of all ranks of the host, the fold
// of their contributions to part of the vector and of what else there is.
func (t *hostRing) fold(part schedule.Range, all bool, more ...schedule.Region) {
	to := []schedule.Region{t.out(t.b.Rank(), part)}
	from := more
	for _, r := range t.ranks[t.host] {
		from = append(from, t.b.In(r, part.Off, part.Len))
		if all && r != t.b.Rank() {
			to = append(to, t.out(r, part))
		}
	}
	t.b.CombineAll(to, from)
}

// reduceScatter sends partial folds round.
func (t *hostRing) reduceScatter() {
	me := t.b.Rank()
	t.fold(t.mine(t.host), t.steps == 0)
	for k := range t.steps {
		t.send(t.host-k, func(rank int, part schedule.Range) {
			t.b.Put(t.from(k, t.place).At(rank, 0, part.Len), t.out(me, part), t.scatter+k*t.most+t.place)
		})
		t.receive(t.host-k-1, t.scatter+k*t.most, func(place int, part schedule.Range) {
			t.fold(part, k == t.steps-1, t.from(k, place).At(me, 0, part.Len))
		})
	}
}

// allGather sends results round.
func (t *hostRing) allGather() {
	me := t.b.Rank()
	for k := range t.steps {
		t.send(t.host-k+1, func(rank int, part schedule.Range) {
			t.b.Put(t.out(rank, part), t.out(me, part), t.gather+k*t.most+t.place)
		})
		t.receive(t.host-k, t.gather+k*t.most, func(_ int, part schedule.Range) {
			var to []schedule.Region
			for _, r := range t.peers() {
				to = append(to, t.out(r, part))
			}
			if len(to) > 0 {
				t.b.CombineAll(to, []schedule.Region{t.out(me, part)})
			}
		})
	}
}

// allReduceHierarchicalFormula is the fold on each host and two rings of hosts, on which the
// ranks of a host each send their part.
func allReduceHierarchicalFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, h := float64(c.Count), float64(s.Nodes)
	m := float64(c.Size) / h // ranks of the mean host
	most := float64(s.Most)
	piece := n / h / m
	meet := price.Stage{Peers: most - 1}
	first := meet
	first.Fold = price.Local{Elements: piece, Sources: m}
	if s.Nodes == 1 {
		first.Fold.Stores = m
		return price.Profile{Stages: []price.Stage{first, meet}}
	}
	parts := 1.0 // that a piece is sent in
	scratch := float64((h - 1) * piece)
	if s.Nodes*s.Most != c.Size {
		parts, scratch = 2, (h-1)*most*n/h/float64(s.Larger)
	}
	hop := price.Stage{Times: h - 1, Route: price.Route{Far: 1, Part: 1, Most: 1, Out: m}, Peers: parts, Elements: piece / parts}
	if some := n / h / most; some < 1 { // most pieces are empty
		hop.Share = some
	}
	fold, spread := hop, hop
	fold.Fold = price.Local{Times: parts, Elements: piece / parts, Sources: m + 1, Scratch: 1}
	if most > 1 {
		spread.Copy = price.Local{Times: parts, Elements: piece / parts, Sources: 1, Stores: m - 1}
	}
	last := price.Stage{Copy: price.Local{Elements: piece, Sources: 1, Stores: m - 1}, Turns: -1} // the result of the last fold
	stages := []price.Stage{first, fold, last, spread, meet}
	if more := n/h/float64(s.Least) - piece; more > 0 { // that a rank of the smallest host has
		small := price.Stage{Times: 2 * (h - 1), Route: price.Route{Part: 1, Most: 1}, Pairs: 1, Only: price.Neither, Peers: 1, Elements: more}
		small.Fold = price.Local{Elements: more, Sources: 2, Scratch: 1}
		stages = append(stages, small)
	}
	return price.Profile{Stages: stages, Scratch: scratch}
}
