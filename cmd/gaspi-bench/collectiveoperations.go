package main

// collectiveOperations are the operations of package collectives. The limits in their
// descriptions hold for shared memory; barering.go and baremesh.go state those for sockets.
func collectiveOperations() []operation {
	vector := []uint64{8, 1 << 10, 64 << 10, 1 << 20, 8 << 20}
	block := []uint64{8, 1 << 10, 32 << 10, 256 << 10}
	all := []operation{
		{name: "allreduce", sizes: vector, about: `the combination of everybody's vectors, for everybody. Bytes are
those of a vector. Limit: each rank folds its share of the vectors and writes
it to all, in the same memory, between two rounds of bare flags; or, if it is
faster and vectors are short, each writes its own to all with a bare flag.`},
		{name: "reduce", sizes: vector, about: `the combination of everybody's vectors, for the root. Bytes are those
of a vector. Limit: as for allreduce, but only the root's is written.`},
		{name: "reducescatter", sizes: vector, about: `a block of the combination for each rank. Bytes are those of
what a rank contributes, all blocks. Limit: each folds its block.`},
		{name: "broadcast", sizes: vector, about: `the root's vector for everybody. Limit: each rank copies its share of
the vector to all, or each but the root copies all of it, whichever is faster;
of short ones, the root writes them to all with a bare flag.`},
		{name: "allgather", sizes: vector, about: `everybody's block for everybody. Bytes are those of the result, all
blocks. Limit: each rank copies the blocks of the others.`},
		{name: "gather", sizes: vector, about: `everybody's block for the root. Bytes are those of all blocks.
Limit: each rank copies its block to the root.`},
		{name: "scatter", sizes: vector, about: `a block of the root's vector for each rank. Bytes are those of all
blocks. Limit: each rank copies its block.`},
		{name: "alltoall", sizes: block, about: `a block of each rank for each rank. Bytes are those of one block.
Limit: each rank copies the blocks that are for it.`},
		{name: "scan", sizes: vector, about: `the combination of the vectors up to its own for each rank. Limit: each
rank does its share of the vector for all.`},
		{name: "exscan", sizes: vector, about: `the same without its own. Limit: the same.`},
		{name: "exchange", sizes: vector, about: `parts of a vector, each with another partner, as in halving and
doubling. Bytes are those of the vector. Limit: each rank copies the parts that
are for it.`},
	}
	for i := range all {
		all[i].minRanks, all[i].team, all[i].prepare = 1, true, prepareCollective
	}
	return all
}
