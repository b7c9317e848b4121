package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

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
