package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// reductions are the algorithms of operations that combine elements.
func reductions() []Algorithm {
	return []Algorithm{
		{Op: schedule.AllReduce, Name: "dissemination", Emit: allReduceDissemination, Ordered: true, Whole: true},
		{Op: schedule.AllReduce, Name: "doubling", Emit: allReduceDoubling, Ordered: true},
		{Op: schedule.AllReduce, Name: "halving", Emit: allReduceHalving, Ordered: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "gloo-ring", Emit: allReduceGlooRing, Differs: true},
		{Op: schedule.AllReduce, Name: "gloo-ring-chunked", Emit: allReduceGlooRingChunked, Exposes: true},
		{Op: schedule.AllReduce, Name: "binomial", Emit: allReduceBinomial, Ordered: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "bcube", Emit: allReduceBcube, Ordered: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "double-tree", Emit: allReduceDoubleTree, Ordered: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "ring", Emit: allReduceRing, Exposes: true},
		{Op: schedule.AllReduce, Name: "direct", Emit: allReduceDirect, Ordered: true, Shares: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "shared", Emit: allReduceShared, Ordered: true, Shares: true, Plain: true},
		{Op: schedule.AllReduce, Name: "coded", Emit: allReduceCoded, Ordered: true, Plain: true, Coded: true},
		{Op: schedule.AllReduce, Name: "hierarchical", Emit: allReduceHierarchical, Shares: true, Hosts: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "leaders", Emit: allReduceLeaders, Shares: true, Hosts: true, Plain: true, Whole: true},

		{Op: schedule.ReduceScatter, Name: "halving", Emit: reduceScatterHalving},
		{Op: schedule.ReduceScatter, Name: "blocks", Emit: reduceScatterBlocks, Ordered: true, Exposes: true},
		{Op: schedule.ReduceScatter, Name: "ring", Emit: reduceScatterRing},
		{Op: schedule.ReduceScatter, Name: "direct", Emit: reduceScatterDirect, Ordered: true, Shares: true, Exposes: true, Pulls: true},

		{Op: schedule.Reduce, Name: "binomial", Emit: reduceBinomial, Ordered: true},
		{Op: schedule.Reduce, Name: "ring-gather", Emit: reduceRingGather, Exposes: true},
		{Op: schedule.Reduce, Name: "flat", Emit: reduceFlat, Ordered: true, Whole: true},
		{Op: schedule.Reduce, Name: "shared", Emit: reduceShared, Fits: allEngaged, Ordered: true, Shares: true, Plain: true},
		{Op: schedule.Reduce, Name: "direct", Emit: reduceDirect, Ordered: true, Shares: true, Exposes: true},

		{Op: schedule.Scan, Name: "doubling", Emit: scanDoubling, Ordered: true},
		{Op: schedule.Scan, Name: "linear", Emit: scanLinear, Ordered: true},
		{Op: schedule.Scan, Name: "direct", Emit: scanDirect, Ordered: true, Shares: true, Exposes: true},

		{Op: schedule.ExScan, Name: "doubling", Emit: scanDoubling, Ordered: true},
		{Op: schedule.ExScan, Name: "linear", Emit: scanLinear, Ordered: true},
		{Op: schedule.ExScan, Name: "direct", Emit: scanDirect, Ordered: true, Shares: true, Exposes: true},
	}
}
