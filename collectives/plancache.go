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
