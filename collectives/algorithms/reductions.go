package algorithms

import "github.com/gaspi-go/gaspi-go/collectives/schedule"

// reductions are the algorithms of operations that combine elements.
func reductions() []Algorithm {
	return []Algorithm{
		{Op: schedule.AllReduce, Name: "dissemination", Emit: allReduceDissemination, Ordered: true, Whole: true},
		{Op: schedule.AllReduce, Name: "doubling", Emit: allReduceDoubling, Ordered: true},
		{Op: schedule.AllReduce, Name: "binomial", Emit: allReduceBinomial, Ordered: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "bcube", Emit: allReduceBcube, Ordered: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "double-tree", Emit: allReduceDoubleTree, Ordered: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "ring", Emit: allReduceRing, Exposes: true},
		{Op: schedule.AllReduce, Name: "direct", Emit: allReduceDirect, Ordered: true, Shares: true, Exposes: true},
	}
}
