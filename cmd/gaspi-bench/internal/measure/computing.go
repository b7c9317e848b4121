package measure

import (
	"slices"
	"time"
)

// A Computing is work of a known length for the processor, which takes longer while something else uses
// the same core.
type Computing struct {
	perSecond float64 // turns of the loop
	sum       float64
}

// NewComputing finds out how long a turn takes: the least of some measurements, since others may take the
// core meanwhile.
func NewComputing() *Computing {
	const trial = 1 << 20
	c := &Computing{sum: 1}
	var took []time.Duration
	for range 5 {
		began := time.Now()
		c.turn(trial)
		took = append(took, time.Since(began))
	}
	c.perSecond = trial / slices.Min(took).Seconds()
	return c
}

// Compute computes for about d.
func (c *Computing) Compute(d time.Duration) { c.turn(int(d.Seconds() * c.perSecond)) }

func (c *Computing) turn(n int) {
	for range n {
		c.sum = c.sum*0.999 + 0.001 // needs the one before, so that none is left out
	}
}
