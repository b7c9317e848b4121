package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allGatherBruck is Bruck's algorithm: in every step each rank writes all that it
// has to the rank that many places before it, which doubles what that one has. Blocks
// lie in the order of ranks from the rank's own on until they are all there, so that
// a step is one message, and are turned round at the end. For small blocks.
//
// Cost: log P steps, rounded up; all blocks but one sent by each rank; two copies of
// the vector; twice the vector of scratch. Credits are not needed: everybody hears of
// everybody in every run, directly or not, and so writes into memory that was last
// used in a run that its owner has finished.
func allGatherBruck(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	block, stages := blocksOf(c), log2up(c.Size)
	hold, data := b.Flip(block.span(0, p)), b.Slots(stages)
	own := block[me]
	b.Copy(hold.At(me, 0, own.Len), b.In(me, 0, own.Len))
	for k := range stages {
		have := 1 << k
		peer, send := mod(me-have, p), block.span(me, min(have, p-have))
		deliver(b, hold.At(peer, block.span(peer, have), send), hold.At(me, 0, send), data+k)
		b.Await(data + k)
	}
	b.Copy(b.Out(me, own.Off, own.Len), b.In(me, 0, own.Len))
	others := block.ranges(me+1, p-1)
	from := pieces(hold.At(me, own.Len, block.span(me+1, p-1)), others)
	for i, to := range regions(b.Out, me, others) {
		b.Copy(to, from[i])
	}
}

// allGatherBruckFormula is the steps and the copies before and behind them.
func allGatherBruckFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	stages := append([]price.Stage{work(price.Local{Elements: n, Sources: 1, Flip: 1})}, doublingStages(s, c.Size, n, true)...)
	turn := price.Local{Times: 2, Elements: n * (p - 1) / 2, Sources: 1, Flip: 1}
	return price.Profile{Stages: append(stages, work(turn)), Flip: n * p}
}
