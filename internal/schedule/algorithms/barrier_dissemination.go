package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// barrierRadix is the default, that of the runtime's own barrier: up to 16 ranks
// need one round. Ranks that share cores pay a turn of the scheduler for each.
const barrierRadix = 16

// barrierDissemination is the n-way dissemination barrier: after each round a rank
// knows of Radix times as many ranks before it, itself among them, that they have
// begun. Radix 2 is the classic.
//
// Cost: log P rounds to the base of the radix, rounded up, of at most Radix-1 signals
// each; no memory.
func barrierDissemination(b *schedule.Builder, c *schedule.Call) {
	me, p, radix := b.Rank(), c.Size, baseOr(c, barrierRadix)
	for known := 1; known < p; known *= radix {
		peers := digitsOf(p, radix, known) - 1 // beyond them are ranks that are known
		slot := b.Slots(peers)
		for i := range peers {
			b.Signal(mod(me+(i+1)*known, p), slot+i)
		}
		for i := range peers {
			b.Await(slot + i)
		}
	}
}

// barrierDisseminationFormula is the rounds.
func barrierDisseminationFormula(s *price.Topology, c *schedule.Call) price.Profile {
	radix := baseOr(c, barrierRadix)
	var p price.Profile
	for known := 1; known < c.Size; known *= radix {
		digits := digitsOf(c.Size, radix, known)
		p.Stages = append(p.Stages, price.Stage{Route: s.Rings(known, digits-1), Peers: float64(digits - 1), Turns: behindTurns(c.Size, radix, known)})
	}
	return p
}
