package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allReduceLeaders is for small vectors on several hosts: the first rank of each host
// folds the contributions of its host, the leaders exchange their folds as in
// allReduceDissemination, and each hands the result to the ranks of its host. Ranks of
// a host copy to and from the leader's memory themselves.
//
// Cost: 1 step to the leader, 1 for each round among leaders, 1 back; a leader sends
// n(f-1) elements in a round of f leaders; twice n elements of scratch for each rank
// of the largest host, two vectors, and what arrives from leaders. Flip suffices,
// since the ranks of a host hear from their leader in every run, and it from them.
func allReduceLeaders(b *schedule.Builder, c *schedule.Call) {
	h := hostsOf(c, b.Rank())
	me, n, stride := b.Rank(), c.Count, b.RoundUp(c.Count)
	var leaders []int
	for _, ranks := range h.ranks {
		leaders = append(leaders, ranks[0])
	}
	given, result := b.Flip((h.most-1)*stride), b.Flip(n)
	folded := b.Flip(n)
	give, take := b.Slots(h.most), b.Slots(1)
	e := claimExchange(b, leaders, len(leaders), n, disseminationFactors(len(leaders), c.Radix))

	mates, leader := h.ranks[h.host], h.ranks[h.host][0]
	own, out := b.In(me, 0, n), b.Out(me, 0, n)
	if me != leader {
		b.Copy(given.At(leader, (h.place-1)*stride, n), own)
		b.Signal(leader, give+h.place)
		b.Await(take)
		b.Copy(out, result.At(leader, 0, n))
		return
	}
	from := []schedule.Region{own}
	for i := 1; i < len(mates); i++ {
		b.Await(give + i)
		from = append(from, given.At(me, (i-1)*stride, n))
	}
	b.Combine(folded.At(me, 0, n), from...)
	e.run(b, folded.At(me, 0, n), result.At(me, 0, n), false)
	for _, r := range mates[1:] {
		b.Signal(r, take)
	}
	b.Copy(out, result.At(me, 0, n))
}

// allReduceLeadersFormula is the fold of each leader, the exchange of leaders, and the way back.
func allReduceLeadersFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, most := float64(c.Count), float64(s.Most)
	var stages []price.Stage
	if s.Most > 1 {
		stages = append(stages, price.Stage{OneWay: true, Pairs: float64(s.Host), Peers: 1, From: most - 1, Turns: 1 / most, Copy: price.Local{Elements: n, Sources: 1}})
	}
	stages = append(stages, price.Stage{Pairs: s.OnHost(float64(s.Nodes)), Turns: -1, Fold: price.Local{Elements: n, Sources: most}})
	if s.Nodes == 1 { // the exchange of one leader
		stages = append(stages, price.Stage{OneWay: true, Pairs: 1, Turns: -1, Copy: price.Local{Elements: n, Sources: 1}})
	}
	among, flip := exchangeStages(s, disseminationFactors(s.Nodes, c.Radix), s.Nodes, n, s.Most)
	for _, g := range among {
		if g.Pairs = s.OnHost(float64(s.Nodes)); g.OneWay {
			g.Pairs = max(1, g.Pairs/2)
		}
		g.Route = price.Route{Far: 1, Part: 1, Most: 1, Out: 1}
		stages = append(stages, g)
	}
	if s.Most > 1 {
		stages = append(stages,
			price.Stage{OneWay: true, Pairs: s.OnHost(float64(s.Nodes)), Peers: most - 1, From: 1},
			price.Stage{Turns: -1, Copy: price.Local{Elements: n, Sources: 1}})
	}
	return price.Profile{Stages: stages, Flip: flip + n*(most+1)}
}
