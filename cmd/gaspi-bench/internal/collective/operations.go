package collective

import "github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"

// Operations are the operations of package collectives, which need what
// (Spec).Prepare does to be measured. The limits in their
// descriptions hold for shared memory; package limit states those for sockets.
func Operations() []measure.Benchmark {
	vector := []uint64{8, 1 << 10, 64 << 10, 1 << 20, 8 << 20}
	block := []uint64{8, 1 << 10, 32 << 10, 256 << 10}
	all := []measure.Benchmark{
		{Name: "allreduce", Sizes: vector, About: `the combination of everybody's vectors, for everybody. Bytes are
those of a vector. Limit: each rank folds its share of the vectors and writes
it to all, in the same memory, between two rounds of bare flags; or, if it is
faster and vectors are short, each writes its own to all with a bare flag.`},
		{Name: "reduce", Sizes: vector, About: `the combination of everybody's vectors, for the root. Bytes are those
of a vector. Limit: as for allreduce, but only the root's is written.`},
		{Name: "reducescatter", Sizes: vector, About: `a block of the combination for each rank. Bytes are those of
what a rank contributes, all blocks. Limit: each folds its block.`},
		{Name: "broadcast", Sizes: vector, About: `the root's vector for everybody. Limit: each rank copies its share of
the vector to all, or each but the root copies all of it, whichever is faster;
of short ones, the root writes them to all with a bare flag.`},
		{Name: "allgather", Sizes: vector, About: `everybody's block for everybody. Bytes are those of the result, all
blocks. Limit: each rank copies the blocks of the others.`},
		{Name: "gather", Sizes: vector, About: `everybody's block for the root. Bytes are those of all blocks.
Limit: each rank copies its block to the root.`},
		{Name: "scatter", Sizes: vector, About: `a block of the root's vector for each rank. Bytes are those of all
blocks. Limit: each rank copies its block.`},
		{Name: "alltoall", Sizes: block, About: `a block of each rank for each rank. Bytes are those of one block.
Limit: each rank copies the blocks that are for it.`},
		{Name: "scan", Sizes: vector, About: `the combination of the vectors up to its own for each rank. Limit: each
rank does its share of the vector for all.`},
		{Name: "exscan", Sizes: vector, About: `the same without its own. Limit: the same.`},
		{Name: "exchange", Sizes: vector, About: `parts of a vector, each with another partner, as in halving and
doubling. Bytes are those of the vector. Limit: each rank copies the parts that
are for it.`},
	}
	for i := range all {
		all[i].MinRanks = 1
	}
	return all
}
