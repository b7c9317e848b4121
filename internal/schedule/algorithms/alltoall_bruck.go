package algorithms

import (
	"errors"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// bruckRadix is the classic. bruckRadices are of fewer rounds, for ranks that pay a turn of the scheduler for each.
const bruckRadix = 2

var bruckRadices = []int{4, 16}

// allToAllBruck is Bruck's algorithm: a block that has d places to go takes the
// rounds of the digits of d, to the base of the radix, together with all others that take
// the same. For tiny blocks, all of one length.
//
// Cost: log P rounds to that base, rounded up, of at most Radix-1 messages of each rank; about P(1-1/Radix)
// blocks packed and sent by each rank in each; as much scratch, that of one round, to send from, and for each round
// twice that to receive in. Credits are not needed: everybody hears of everybody in every run, directly or not,
// and so writes into memory that was last used in a run that its owner has finished.
func allToAllBruck(b *schedule.Builder, c *schedule.Call) {
	me, p, radix := b.Rank(), c.Size, baseOr(c, bruckRadix)
	_, n := c.Sent(0, 0)
	at := make([]schedule.Region, p) // the block, now here, that is to go or has gone d places
	for d := range at {
		at[d] = b.In(me, mod(me+d, p)*n, n)
	}
	moved := make([]int, 0, p)
	pack := b.Scratch((p - (p+radix-1)/radix) * n) // for the first round, in which the fewest blocks have nothing to go
	for weight := 1; weight < p; weight *= radix {
		if weight > 1 {
			b.Flush() // the round packs where the one before sends from
		}
		digits := digitsOf(p, radix, weight)
		data, packed := b.Slots(digits-1), 0
		for digit := 1; digit < digits; digit++ {
			moved = moved[:0]
			for d := digit * weight; d < p; d++ {
				if d/weight%radix == digit {
					moved = append(moved, d)
				}
			}
			all := len(moved) * n
			got := b.Flip(all)
			for i, d := range moved {
				b.Copy(pack.At(me, packed+i*n, n), at[d])
				at[d] = got.At(me, i*n, n)
			}
			deliver(b, got.At(mod(me+digit*weight, p), 0, all), pack.At(me, packed, all), data+digit-1)
			packed += all
		}
		for digit := 1; digit < digits; digit++ {
			b.Await(data + digit - 1)
		}
	}
	for d := range at {
		b.Copy(b.Out(me, mod(me-d, p)*n, n), at[d])
	}
}

// digitsOf is how many values a digit of that weight has in the numbers from 0 to p-1 to base radix.
func digitsOf(p, radix, weight int) int { return min(radix, (p+weight-1)/weight) }

// evenBlocks refuses blocks of different lengths.
func evenBlocks(c *schedule.Call) error {
	for _, n := range c.Counts {
		if n != c.Counts[0] {
			return errors.New("it needs blocks of one length")
		}
	}
	return nil
}

// allToAllBruckFormula is the rounds, each with the copies of what is sent, and the copies at the end.
func allToAllBruckFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p, radix := float64(c.Count), float64(c.Size), baseOr(c, bruckRadix)
	var all price.Profile
	for weight := 1; weight < c.Size; weight *= radix {
		digits, period := digitsOf(c.Size, radix, weight), radix*weight
		blocks := float64(c.Size - c.Size/period*weight - min(c.Size%period, weight)) // but those whose digit is 0
		peers := float64(digits - 1)
		g := price.Stage{Route: s.Rings(weight, digits-1), Peers: peers, Elements: n * blocks / peers, Apart: true, Turns: behindTurns(c.Size, radix, weight)}
		g.Copy = price.Local{Times: blocks, Elements: n, Sources: 1, Scratch: 1}
		all.Stages = append(all.Stages, g)
		all.Scratch, all.Flip = max(all.Scratch, n*blocks), all.Flip+n*blocks
	}
	all.Stages = append(all.Stages, work(price.Local{Times: p, Elements: n, Sources: 1, Flip: 1}))
	return all
}
