package choice

import (
	"math"

	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// refinedSteps is how many steps of all ranks together may be simulated for a choice, about
// a quarter of a millisecond.
const refinedSteps = 1 << 10

// A cost is what a variant takes by the model.
type cost struct {
	seconds   float64 // infinite if it cannot be
	steps     float64 // of all ranks, about
	simulated bool
}

// prices returns what variants take for a call. Formulas say so first. As long as a variant
// without a simulation is the cheapest, it is simulated, within refinedSteps: so few ranks choose
// by simulations alone, and many by formulas. All of it is the same on all members.
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
		costs[i].seconds, costs[i].steps = ch.estimate(&even, at, v)
	}
	for left := float64(refinedSteps); ; {
		i := cheapest(costs)
		if left -= runs * costs[i].steps; costs[i].simulated || left < 0 {
			return costs, nil
		}
		costs[i] = ch.simulate(c, at, all[i])
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

// cheapest is the first of the least costs.
func cheapest(all []cost) int {
	best := 0
	for i := range all {
		if all[i].seconds < all[best].seconds {
			best = i
		}
	}
	return best
}
