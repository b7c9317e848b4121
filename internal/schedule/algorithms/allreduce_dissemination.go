package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// disseminationRadix is how many ranks exchange their vectors in one round unless
// the call says otherwise. Ranks that share cores pay a turn of the scheduler for
// each round, so that few rounds are worth many messages; it is the radix of the
// runtime's own barrier.
const disseminationRadix = 16

// allReduceDissemination is n-way dissemination, for tiny vectors: in each round a
// rank sends all it has to radix-1 others and hears from as many. The radix is that
// of the call, or else enough for one round of up to 16 ranks. Each contribution
// must count once, which windows on a ring grant for powers of the radix alone; so
// the rounds are the digits of a mixed radix, and ranks beyond the largest product of
// such factors are folded into their neighbours before and get the result after.
//
// Cost: 1 step, n(P-1) elements sent and n(P-1) combined in one round, for f ranks
// a round n(f-1) of each; 2 steps more if P has a prime factor larger than the
// radix. Twice as much scratch as elements that arrive. The order of ranks is
// kept. Why nothing is overwritten: see allReduceExchange.
func allReduceDissemination(b *schedule.Builder, c *schedule.Call) {
	allReduceExchange(b, c, disseminationFactors(c.Size, c.Radix))
}

// disseminationFactors are the factors of the largest core of so many ranks.
func disseminationFactors(ranks, radix int) []int {
	if radix < 2 {
		radix = disseminationRadix
	}
	for core := ranks; ; core-- {
		if factors, ok := factorize(core, radix); ok {
			return factors
		}
	}
}

func allReduceDisseminationFormula(s *price.Topology, c *schedule.Call) price.Profile {
	return allReduceExchangeFormula(s, c, disseminationFactors(c.Size, c.Radix))
}

// allReduceExchangeFormula is the rounds of allReduceExchange.
func allReduceExchangeFormula(s *price.Topology, c *schedule.Call, factors []int) price.Profile {
	n := float64(c.Count)
	stages, flip := exchangeStages(s, factors, c.Size, n, 1)
	return price.Profile{Stages: stages, Flip: flip}
}
