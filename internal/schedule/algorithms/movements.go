package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// movements are the algorithms of operations that move elements and combine none.
func movements() []Algorithm {
	return []Algorithm{
		{Op: schedule.Broadcast, Name: "flat", Emit: broadcastFlat, Formula: broadcastFlatFormula, Exposes: true, OneWay: true},
		{Op: schedule.Broadcast, Name: "binomial", Emit: broadcastBinomial, Formula: broadcastBinomialFormula, Exposes: true},
		{Op: schedule.Broadcast, Name: "chain", Emit: broadcastChain, Formula: broadcastChainFormula, Exposes: true},
		{Op: schedule.Broadcast, Name: "scatter-allgather", Emit: broadcastScatterAllGather, Formula: broadcastScatterAllGatherFormula, Exposes: true},
		{Op: schedule.Broadcast, Name: "direct", Emit: broadcastDirect, Formula: broadcastDirectFormula, Shares: true, Exposes: true, Pulls: true},
		{Op: schedule.Broadcast, Name: "split", Emit: broadcastSplit, Formula: broadcastSplitFormula, Shares: true, Exposes: true},
		{Op: schedule.Broadcast, Name: "eager", Emit: broadcastEager, Formula: broadcastEagerFormula, Plain: true, Whole: true, Radices: eagerRadices},
		{Op: schedule.Broadcast, Name: "coded", Emit: broadcastCoded, Formula: broadcastCodedFormula, Plain: true, Coded: true},
		{Op: schedule.Broadcast, Name: "coded-chain", Emit: broadcastCodedChain, Formula: broadcastCodedChainFormula, Plain: true, Coded: true},

		{Op: schedule.Gather, Name: "flat", Emit: gatherFlat, Formula: gatherFlatFormula, Exposes: true, OneWay: true},
		{Op: schedule.Gather, Name: "binomial", Emit: gatherBinomial, Formula: gatherBinomialFormula, Exposes: true},
		{Op: schedule.Gather, Name: "eager", Emit: gatherEager, Formula: gatherEagerFormula, Plain: true, Whole: true},
		{Op: schedule.Gather, Name: "direct", Emit: gatherDirect, Formula: gatherDirectFormula, Shares: true, Exposes: true},

		{Op: schedule.Scatter, Name: "flat", Emit: scatterFlat, Formula: scatterFlatFormula, Exposes: true},
		{Op: schedule.Scatter, Name: "binomial", Emit: scatterBinomial, Formula: scatterBinomialFormula, Plain: true},
		{Op: schedule.Scatter, Name: "direct", Emit: scatterDirect, Formula: scatterDirectFormula, Shares: true, Exposes: true, Pulls: true},

		{Op: schedule.AllGather, Name: "ring", Emit: allGatherRing, Formula: allGatherRingFormula, Exposes: true},
		{Op: schedule.AllGather, Name: "linear", Emit: allGatherLinear, Formula: allGatherLinearFormula, Exposes: true},
		{Op: schedule.AllGather, Name: "doubling", Emit: allGatherDoubling, Formula: allGatherDoublingFormula, Exposes: true},
		{Op: schedule.AllGather, Name: "bruck", Emit: allGatherBruck, Formula: allGatherBruckFormula, Whole: true, Radices: bruckRadices},
		{Op: schedule.AllGather, Name: "direct", Emit: allGatherDirect, Formula: allGatherDirectFormula, Shares: true, Exposes: true, Pulls: true},
		{Op: schedule.AllGather, Name: "spread", Emit: allGatherSpread, Formula: allGatherSpreadFormula, Shares: true, Exposes: true},
		{Op: schedule.AllGather, Name: "flip", Emit: allGatherFlip, Formula: allGatherFlipFormula, Whole: true},

		{Op: schedule.AllToAll, Name: "direct", Emit: allToAllDirect, Formula: allToAllDirectFormula, Fits: bothWays, Exposes: true, Burst: true},
		{Op: schedule.AllToAll, Name: "pairwise", Emit: allToAllPairwise, Formula: allToAllPairwiseFormula, Fits: bothWays, Exposes: true},
		{Op: schedule.AllToAll, Name: "bruck", Emit: allToAllBruck, Formula: allToAllBruckFormula, Fits: evenBlocks, Whole: true, Radices: bruckRadices},
		{Op: schedule.AllToAll, Name: "shared", Emit: allToAllShared, Formula: allToAllSharedFormula, Fits: bothWays, Shares: true, Exposes: true, Pulls: true},
		{Op: schedule.AllToAll, Name: "flip", Emit: allToAllFlip, Formula: allToAllFlipFormula, Fits: bothWays, Whole: true},

		{Op: schedule.Barrier, Name: "dissemination", Emit: barrierDissemination, Formula: barrierDisseminationFormula, Whole: true},
		{Op: schedule.Barrier, Name: "all-to-one", Emit: barrierAllToOne, Formula: barrierAllToOneFormula, Whole: true},
		{Op: schedule.Barrier, Name: "all-to-all", Emit: barrierAllToAll, Formula: barrierAllToAllFormula, Whole: true},

		{Op: schedule.Exchange, Name: "pairwise", Emit: exchangePairwise, Formula: exchangePairwiseFormula, Fits: exchangeFits, Exposes: true, Whole: true},
	}
}
