package choice

import (
	"math"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// refinedSteps is how many steps of all ranks together may be simulated for a choice, about
// a quarter of a millisecond.
const refinedSteps = 1 << 10

// formulaError is how far a formula may be above the simulation of the same variant. Nine formulas in
// ten are that close.
const formulaError = 1.4

// A variant takes no more memory of a rank than leastRoom bytes, or roomPerVector times the longest vectors
// of a rank, if another one takes less. It is more than the eager memory of a call takes. An allreduce of
// 128 KiB by leaders claims 64 MiB at each of 256 ranks of a host, and one by chunks as much as a vector.
const (
	leastRoom     = 5 << 18
	roomPerVector = 16
)

// A cost is what a variant takes by the model.
type cost struct {
	seconds   float64 // infinite if it cannot be
	steps     float64 // of all ranks, about
	memory    float64 // bytes of a rank beside its vectors
	rounds    float64 // price.Profile.Rounds
	simulated bool
	heavy     bool // takes more memory than it may
}

// weigh finds out which variants of a call take more memory than they may.
func weigh(all []cost, c *Signature) {
	in, out := mostElements(&c.Call)
	most := max(leastRoom, roomPerVector*max(in, out)*float64(c.Element))
	for i := range all {
		all[i].heavy = all[i].memory > most
	}
}

// allowHeavy lets all variants take as much memory as they do if none that takes less can be.
func allowHeavy(all []cost) {
	if slices.ContainsFunc(all, func(c cost) bool { return !c.heavy && !math.IsInf(c.seconds, 1) }) {
		return
	}
	for i := range all {
		all[i].heavy = false
	}
}

// prices returns what variants take for a call. Formulas say so first. Then those are simulated,
// within refinedSteps, that may be the quickest: those whose formula is at most formulaError above
// the least of all simulations. So few ranks choose by simulations alone, and many by formulas. All
// of it is the same on all members.
func (ch *Chooser) prices(all []Variant, c *Signature) ([]cost, error) {
	at, err := ch.where(c)
	if err != nil {
		return nil, err
	}
	costs := make([]cost, len(all))
	even := c.evened()
	for i, v := range all {
		if c.Size == 1 { // formulas are of messages
			costs[i] = ch.simulate(c, at, v)
			continue
		}
		costs[i] = ch.estimate(&even, at, v)
	}
	weigh(costs, &even)
	for left := float64(refinedSteps); ; {
		allowHeavy(costs)
		i, ok := doubtful(costs, left)
		if !ok {
			return costs, nil
		}
		left -= runs * costs[i].steps
		rounds := costs[i].rounds
		costs[i] = ch.simulate(c, at, all[i])
		costs[i].rounds = rounds
	}
}

// simulate returns what a simulation of all ranks says of a variant.
func (ch *Chooser) simulate(c *Signature, at *price.Topology, v Variant) cost {
	seconds, err := ch.predict(c, at, v)
	if err != nil {
		seconds = math.Inf(1)
	}
	return cost{seconds: seconds, simulated: true}
}

// doubtful returns the variant that is the quickest by its formula of those that can be simulated within the steps that are
// left, if that may be quicker than all simulated ones, and than the formulas of the others.
func doubtful(all []cost, left float64) (variant int, ok bool) {
	variant, least := -1, math.Inf(1)
	for i, c := range all {
		switch {
		case c.heavy:
		case c.simulated, runs*c.steps > left:
			least = min(least, c.seconds)
		case variant < 0 || c.seconds < all[variant].seconds:
			variant = i
		}
	}
	return variant, variant >= 0 && all[variant].seconds <= formulaError*least
}

// cheapest is the first of the least costs of variants that may be chosen.
func cheapest(all []cost) int {
	best := -1
	for i := range all {
		if !all[i].heavy && (best < 0 || all[i].seconds < all[best].seconds) {
			best = i
		}
	}
	return best
}
