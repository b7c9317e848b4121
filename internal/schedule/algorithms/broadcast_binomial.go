package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// broadcastBinomial is the binomial spanning tree of the paper on eventually
// consistent collectives (Section III-B, Fig. 3): in every stage each rank that has
// the vector writes it to one that has not, the one with the largest subtree first.
//
// Cost: log P steps after the first credit, rounded up; n log P elements sent by the
// root, n(P-1) by all; no scratch. A child's credit says that its result may be
// overwritten. All are sent at once, so that of ranks that come together only the
// root ever waits for one.
func broadcastBinomial(b *schedule.Builder, c *schedule.Call) {
	me, n := b.Rank(), c.Count
	tree := binomial{c.Size, c.Root}
	ready, data := b.Slots(tree.stages()), b.Slots(1)
	if parent, ok := tree.parent(me); ok {
		b.Signal(parent, ready+tree.level(me))
		b.Await(data)
	}
	children := tree.children(me)
	for k := len(children) - 1; k >= 0; k-- {
		b.Await(ready + k)
		b.Put(b.Out(children[k], 0, n), b.Out(me, 0, n), data)
	}
}

// broadcastBinomialFormula is the credits and the levels. The child with the largest subtree is
// written to again when it has written to all of its own.
func broadcastBinomialFormula(s *price.Topology, c *schedule.Call) price.Profile {
	levels := binomial{size: c.Size}.treeStages(s, false, 1, always(float64(c.Count)), noFold)
	credit, slow := oneHop(levels[0], 0), slowest(levels)
	again := []price.Stage{oneHop(levels[slow], 0), oneHop(levels[slow], float64(c.Count))}
	for _, g := range levels[slow+1:] {
		again = append(again, only(price.Leaving, g))
	}
	return price.Profile{Stages: slices.Insert(levels, 0, credit), Again: again}
}

// slowest is the first level that has edges between nodes, or the first.
func slowest(levels []price.Stage) int {
	return max(0, slices.IndexFunc(levels, func(g price.Stage) bool { return g.Route.Most > 0 }))
}
