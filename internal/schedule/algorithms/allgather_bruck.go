package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allGatherBruck is Bruck's algorithm: in every round each rank writes all that it
// has to the ranks once, twice and up to Radix-1 times as many places before it, 2 unless told otherwise, which
// makes what those have Radix times as much. Blocks
// lie in the order of ranks from the rank's own on until they are all there, so that
// what one rank hears from another in a round is one message, and are turned round at the end. For small blocks.
//
// Cost: log P rounds to the base of the radix, rounded up; all blocks but one sent by each rank; two copies of
// the vector; twice the vector of scratch. Credits are not needed: everybody hears of
// everybody in every run, directly or not, and so writes into memory that was last
// used in a run that its owner has finished.
func allGatherBruck(b *schedule.Builder, c *schedule.Call) {
	me, p, radix := b.Rank(), c.Size, baseOr(c, bruckRadix)
	block := blocksOf(c)
	hold, own := b.Flip(block.span(0, p)), block[me]
	b.Copy(hold.At(me, 0, own.Len), b.In(me, 0, own.Len))
	for have := 1; have < p; have *= radix {
		peers := digitsOf(p, radix, have) - 1
		data := b.Slots(peers)
		for i := 1; i <= peers; i++ {
			peer, send := mod(me-i*have, p), block.span(me, min(have, p-i*have))
			deliver(b, hold.At(peer, block.span(peer, i*have), send), hold.At(me, 0, send), data+i-1)
		}
		for i := range peers {
			b.Await(data + i)
		}
	}
	b.Copy(b.Out(me, own.Off, own.Len), b.In(me, 0, own.Len))
	others := block.ranges(me+1, p-1)
	from := pieces(hold.At(me, own.Len, block.span(me+1, p-1)), others)
	for i, to := range regions(b.Out, me, others) {
		b.Copy(to, from[i])
	}
}

// allGatherBruckFormula is the rounds and the copies before and behind them.
func allGatherBruckFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	stages := append([]price.Stage{work(price.Local{Elements: n, Sources: 1, Flip: 1})}, growingStages(s, c.Size, baseOr(c, bruckRadix), n, true)...)
	turn := price.Local{Times: 2, Elements: n * (p - 1) / 2, Sources: 1, Flip: 1}
	return price.Profile{Stages: append(stages, work(turn)), Flip: n * p}
}
