package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// movements are the algorithms of operations that move elements and combine none.
func movements() []Algorithm {
	return []Algorithm{
		{Op: schedule.Broadcast, Name: "flat", Emit: broadcastFlat, Exposes: true},
		{Op: schedule.Broadcast, Name: "binomial", Emit: broadcastBinomial, Exposes: true},
		{Op: schedule.Broadcast, Name: "chain", Emit: broadcastChain, Exposes: true},
		{Op: schedule.Broadcast, Name: "scatter-allgather", Emit: broadcastScatterAllGather, Exposes: true},
		{Op: schedule.Broadcast, Name: "direct", Emit: broadcastDirect, Shares: true, Exposes: true, Pulls: true},
		{Op: schedule.Broadcast, Name: "split", Emit: broadcastSplit, Shares: true, Exposes: true},
		{Op: schedule.Broadcast, Name: "flip", Emit: broadcastFlip, Whole: true},
		{Op: schedule.Broadcast, Name: "coded", Emit: broadcastCoded, Plain: true, Coded: true},
		{Op: schedule.Broadcast, Name: "coded-chain", Emit: broadcastCodedChain, Plain: true, Coded: true},

		{Op: schedule.Gather, Name: "flat", Emit: gatherFlat, Exposes: true},
		{Op: schedule.Gather, Name: "binomial", Emit: gatherBinomial, Exposes: true},
		{Op: schedule.Gather, Name: "direct", Emit: gatherDirect, Shares: true, Exposes: true},

		{Op: schedule.Scatter, Name: "flat", Emit: scatterFlat, Exposes: true},
		{Op: schedule.Scatter, Name: "binomial", Emit: scatterBinomial},
		{Op: schedule.Scatter, Name: "direct", Emit: scatterDirect, Shares: true, Exposes: true, Pulls: true},

		{Op: schedule.AllGather, Name: "ring", Emit: allGatherRing, Exposes: true},
		{Op: schedule.AllGather, Name: "linear", Emit: allGatherLinear, Exposes: true},
		{Op: schedule.AllGather, Name: "doubling", Emit: allGatherDoubling, Exposes: true},
		{Op: schedule.AllGather, Name: "bruck", Emit: allGatherBruck, Whole: true},
		{Op: schedule.AllGather, Name: "direct", Emit: allGatherDirect, Shares: true, Exposes: true, Pulls: true},
		{Op: schedule.AllGather, Name: "spread", Emit: allGatherSpread, Shares: true, Exposes: true},
		{Op: schedule.AllGather, Name: "flip", Emit: allGatherFlip, Whole: true},

		{Op: schedule.AllToAll, Name: "direct", Emit: allToAllDirect, Fits: bothWays, Exposes: true, Burst: true},
		{Op: schedule.AllToAll, Name: "pairwise", Emit: allToAllPairwise, Fits: bothWays, Exposes: true},
		{Op: schedule.AllToAll, Name: "bruck", Emit: allToAllBruck, Fits: evenBlocks, Whole: true},
		{Op: schedule.AllToAll, Name: "shared", Emit: allToAllShared, Fits: bothWays, Shares: true, Exposes: true, Pulls: true},
		{Op: schedule.AllToAll, Name: "flip", Emit: allToAllFlip, Fits: bothWays, Whole: true},

		{Op: schedule.Barrier, Name: "dissemination", Emit: barrierDissemination, Whole: true},
		{Op: schedule.Barrier, Name: "all-to-one", Emit: barrierAllToOne, Whole: true},
		{Op: schedule.Barrier, Name: "all-to-all", Emit: barrierAllToAll, Whole: true},

		{Op: schedule.Exchange, Name: "pairwise", Emit: exchangePairwise, Fits: exchangeFits, Exposes: true, Whole: true},
	}
}
