package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// reduceBinomial folds along a binomial tree: the paper on eventually consistent
// collectives, Section III-B. In stage k, blocks of 2^k members are folded to
// blocks of twice as many: the holder of one sends what it has to the holder of the
// other. The holder is the first member, or the root where that is among them; so
// the tree ends at any root, and the order of ranks is kept. With a process
// threshold it is the tree of those who are engaged, and so its stages are fewer
// when that halves the members, as in Fig. 10. A root that is not engaged has no
// contribution of its own.
//
// Cost: log P steps, rounded up; each sends n elements once; the root combines n log
// P; scratch for as many vectors and one more. A receiver signals its sender when it has read a
// vector, and the sender awaits that at the end: the last such signal comes a step after the
// root has the result.
func reduceBinomial(b *schedule.Builder, c *schedule.Call) {
	m, n := membersOf(c, b.Rank()), c.Count
	arrived := eachScratch(b, log2up(len(m.ranks)), n)
	folded := b.Scratch(n)
	data, read := b.Slots(len(arrived)), b.Slots(1)
	if m.me < 0 {
		return
	}
	me := b.Rank()
	part, dst := b.In(me, 0, n), folded.At(me, 0, n)
	if m.me == m.root {
		dst = b.Out(me, 0, n)
	}
	has := m.gives[m.me]
	for k := range arrived {
		block := m.me >> k
		if (block^1)<<k >= len(m.ranks) {
			continue
		}
		other, winner := m.holder(block^1, k), m.holder(block/2, k+1)
		if winner != m.me {
			b.Put(arrived[k].At(m.ranks[winner], 0, n), part, data+k)
			b.Await(read)
			return
		}
		b.Await(data + k)
		all := []schedule.Region{part, arrived[k].At(me, 0, n)}
		switch {
		case !has:
			all = all[1:]
		case other < m.me:
			all[0], all[1] = all[1], all[0]
		}
		b.Combine(dst, all...)
		b.Signal(m.ranks[other], read)
		part, has = dst, true
	}
	if has {
		b.Copy(dst, part)
	}
}

// holder is who holds the fold of a block of 2^k members.
func (m members) holder(block, k int) int {
	if m.root>>k == block {
		return m.root
	}
	return block << k
}

// reduceBinomialFormula is the levels, and the signal to another node that the last vector was read. A rank gives the
// next vector when its last was read, and the last to come to the root comes from the largest subtree.
func reduceBinomialFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	levels := binomial{size: c.Size}.treeStages(s, true, 1, always(n), foldOne)
	for i := range levels {
		levels[i].Fold.Scratch = 3 // but the root's, and of the first level one less
		levels[i].Turns = 1.5      // every rank waits until its vector was read, and those that have children for them
	}
	last := len(levels) - 1
	var again []price.Stage
	for _, g := range levels[:last] {
		again = append(again, only(price.Arrival, g))
	}
	slow := levels[slowest(levels)]
	if levels[last].Route.Most > 0 {
		slow = levels[last]
	}
	data := oneHop(slow, n)
	data.Fold = slow.Fold
	read := oneHop(slow, 0)
	again = append(again, data, read)
	if s.Nodes > 1 {
		levels = append(levels, read)
	}
	return price.Profile{Stages: levels, Again: again, Scratch: n * float64(last+2)}
}
