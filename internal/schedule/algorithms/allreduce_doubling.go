package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allReduceDoubling is recursive doubling, RDB of the paper on pipelined allreduce
// (Section 3.1): in each step, ranks whose numbers differ in one bit send each
// other all they have folded so far. Ranks beyond the largest power of two are
// folded into their neighbours before and get the result after.
//
// Cost: log P steps, n log P elements sent and as many combined; 2 steps more if P
// is no power of two. Twice n log P elements of scratch, two vectors more if P is
// no power of two. The order of ranks is kept. Why nothing is overwritten: see
// allReduceExchange.
func allReduceDoubling(b *schedule.Builder, c *schedule.Call) {
	allReduceExchange(b, c, doublingFactors(c.Size))
}

// doublingFactors are the factors of the largest power of two in so many ranks.
func doublingFactors(ranks int) []int {
	factors := make([]int, log2down(ranks))
	for i := range factors {
		factors[i] = 2
	}
	return factors
}

func allReduceDoublingFormula(s *price.Topology, c *schedule.Call) price.Profile {
	return allReduceExchangeFormula(s, c, doublingFactors(c.Size))
}
