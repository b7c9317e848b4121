package collectives

import (
	"iter"

	"github.com/gaspi-go/gaspi-go/collectives/internal/memory"
)

// A planCache holds the plans of a team.
type planCache struct {
	byKey map[key]*Plan
	last  *Plan // of the last single call
	made  int   // plans of NewPlan so far

	counters counters // of the calls of all plans, also of those that were dropped
}

// forget drops a plan. Its place in the arena is free after the next sweep.
func (c *planCache) forget(p *Plan) {
	p.claim.Release()
	delete(c.byKey, p.key)
	if c.last == p {
		c.last = nil
	}
}

// forgetSingle drops the plans of single calls.
func (c *planCache) forgetSingle() {
	for _, p := range c.byKey {
		if !p.pinned {
			c.forget(p)
		}
	}
}

// first returns a number that only the same plans of NewPlan have, of the first n that were made.
func (c *planCache) first(n int) uint64 {
	var sum uint64
	for k, p := range c.byKey {
		if k.plan > 0 && k.plan <= n {
			sum += p.sign // which has the number of the plan in it
		}
	}
	return sum ^ sum>>32
}

// keepFirst drops all plans of NewPlan but the first n that were made.
func (c *planCache) keepFirst(n int) {
	for k, p := range c.byKey {
		if k.plan > n {
			c.forget(p)
		}
	}
	c.made = n
}

// claims returns the claims of all plans.
func (c *planCache) claims() iter.Seq[*memory.Claim] {
	return func(yield func(*memory.Claim) bool) {
		for _, p := range c.byKey {
			if !yield(&p.claim) {
				return
			}
		}
	}
}
