package algorithms

import (
	"errors"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allToAllBruck is Bruck's algorithm: a block that has d places to go takes the
// steps of the binary digits of d, together with all others that take the same. For
// tiny blocks, all of one length.
//
// Cost: log P steps, rounded up; at most nP/2 elements packed and sent by each rank
// in each; nP/2 log P elements of scratch to send from and twice that to receive in.
// Credits are not needed: everybody hears of everybody in every run, directly or not,
// and so writes into memory that was last used in a run that its owner has finished.
func allToAllBruck(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	_, n := c.Sent(0, 0)
	at := make([]schedule.Region, p) // the block, now here, that is to go or has gone d places
	for d := range at {
		at[d] = b.In(me, mod(me+d, p)*n, n)
	}
	moved := make([]int, 0, p)
	for step := 1; step < p; step *= 2 {
		moved = moved[:0]
		for d := step; d < p; d++ {
			if d&step != 0 {
				moved = append(moved, d)
			}
		}
		all := len(moved) * n
		pack, got, data := b.Scratch(all), b.Flip(all), b.Slots(1)
		for i, d := range moved {
			b.Copy(pack.At(me, i*n, n), at[d])
			at[d] = got.At(me, i*n, n)
		}
		deliver(b, got.At(mod(me+step, p), 0, all), pack.At(me, 0, all), data)
		b.Await(data)
	}
	for d := range at {
		b.Copy(b.Out(me, mod(me-d, p)*n, n), at[d])
	}
}

// evenBlocks refuses blocks of different lengths.
func evenBlocks(c *schedule.Call) error {
	for _, n := range c.Counts {
		if n != c.Counts[0] {
			return errors.New("it needs blocks of one length")
		}
	}
	return nil
}

// allToAllBruckFormula is the steps, each with the copies of what is sent, and the copies at the end.
func allToAllBruckFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	var all price.Profile
	for step := 1; step < c.Size; step *= 2 {
		blocks := float64(c.Size/(2*step)*step + max(0, c.Size%(2*step)-step))
		g := price.Stage{Route: s.Ring(step), Peers: 1, Elements: n * blocks, Apart: true}
		g.Copy = price.Local{Times: blocks, Elements: n, Sources: 1, Scratch: 1}
		all.Stages = append(all.Stages, g)
		all.Scratch, all.Flip = all.Scratch+n*blocks, all.Flip+n*blocks
	}
	all.Stages = append(all.Stages, work(price.Local{Times: p, Elements: n, Sources: 1, Flip: 1}))
	return all
}
