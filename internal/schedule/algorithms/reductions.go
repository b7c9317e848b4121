package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// reductions are the algorithms of operations that combine elements.
func reductions() []Algorithm {
	return []Algorithm{
		{Op: schedule.AllReduce, Name: "dissemination", Emit: allReduceDissemination, Formula: allReduceDisseminationFormula, Ordered: true, Whole: true},
		{Op: schedule.AllReduce, Name: "doubling", Emit: allReduceDoubling, Formula: allReduceDoublingFormula, Ordered: true},
		{Op: schedule.AllReduce, Name: "halving", Emit: allReduceHalving, Formula: allReduceHalvingFormula, Ordered: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "gloo-ring", Emit: allReduceGlooRing, Formula: allReduceGlooRingFormula, Differs: true},
		{Op: schedule.AllReduce, Name: "gloo-ring-chunked", Emit: allReduceGlooRingChunked, Formula: allReduceGlooRingChunkedFormula, Exposes: true},
		{Op: schedule.AllReduce, Name: "binomial", Emit: allReduceBinomial, Formula: allReduceBinomialFormula, Ordered: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "bcube", Emit: allReduceBcube, Formula: allReduceBcubeFormula, Ordered: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "double-tree", Emit: allReduceDoubleTree, Formula: allReduceDoubleTreeFormula, Ordered: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "ring", Emit: allReduceRing, Formula: allReduceRingFormula, Exposes: true},
		{Op: schedule.AllReduce, Name: "direct", Emit: allReduceDirect, Formula: allReduceDirectFormula, Ordered: true, Shares: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "shared", Emit: allReduceShared, Formula: allReduceSharedFormula, Ordered: true, Shares: true, Plain: true},
		{Op: schedule.AllReduce, Name: "coded", Emit: allReduceCoded, Formula: allReduceCodedFormula, Ordered: true, Plain: true, Coded: true},
		{Op: schedule.AllReduce, Name: "hierarchical", Emit: allReduceHierarchical, Formula: allReduceHierarchicalFormula, Shares: true, Hosts: true, Exposes: true},
		{Op: schedule.AllReduce, Name: "leaders", Emit: allReduceLeaders, Formula: allReduceLeadersFormula, Shares: true, Hosts: true, Plain: true, Whole: true},

		{Op: schedule.ReduceScatter, Name: "halving", Emit: reduceScatterHalving, Formula: reduceScatterHalvingFormula},
		{Op: schedule.ReduceScatter, Name: "blocks", Emit: reduceScatterBlocks, Formula: reduceScatterBlocksFormula, Ordered: true, Exposes: true},
		{Op: schedule.ReduceScatter, Name: "ring", Emit: reduceScatterRing, Formula: reduceScatterRingFormula},
		{Op: schedule.ReduceScatter, Name: "direct", Emit: reduceScatterDirect, Formula: reduceScatterDirectFormula, Ordered: true, Shares: true, Exposes: true, Pulls: true},

		{Op: schedule.Reduce, Name: "binomial", Emit: reduceBinomial, Formula: reduceBinomialFormula, Ordered: true},
		{Op: schedule.Reduce, Name: "ring-gather", Emit: reduceRingGather, Formula: reduceRingGatherFormula, Exposes: true},
		{Op: schedule.Reduce, Name: "eager", Emit: reduceEager, Formula: reduceEagerFormula, Ordered: true, Plain: true, Whole: true, Radices: eagerRadices},
		{Op: schedule.Reduce, Name: "shared", Emit: reduceShared, Formula: reduceSharedFormula, Fits: allEngaged, Ordered: true, Shares: true, Plain: true},
		{Op: schedule.Reduce, Name: "direct", Emit: reduceDirect, Formula: reduceDirectFormula, Ordered: true, Shares: true, Exposes: true},

		{Op: schedule.Scan, Name: "doubling", Emit: scanDoubling, Formula: scanDoublingFormula, Ordered: true},
		{Op: schedule.Scan, Name: "linear", Emit: scanLinear, Formula: scanLinearFormula, Ordered: true},
		{Op: schedule.Scan, Name: "direct", Emit: scanDirect, Formula: scanDirectFormula, Ordered: true, Shares: true, Exposes: true},

		{Op: schedule.ExScan, Name: "doubling", Emit: scanDoubling, Formula: scanDoublingFormula, Ordered: true},
		{Op: schedule.ExScan, Name: "linear", Emit: scanLinear, Formula: scanLinearFormula, Ordered: true},
		{Op: schedule.ExScan, Name: "direct", Emit: scanDirect, Formula: scanDirectFormula, Ordered: true, Shares: true, Exposes: true},
	}
}
