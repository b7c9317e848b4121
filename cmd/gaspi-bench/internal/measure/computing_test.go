package measure

import (
	"testing"
	"time"
)

// TestComputing checks that the processor has done something, of a speed that was found out.
func TestComputing(t *testing.T) {
	c := NewComputing()
	c.sum = 0
	c.Compute(time.Millisecond)
	if !(c.perSecond > 0) || !(c.sum > 0 && c.sum <= 1) {
		t.Errorf("a loop of %v turns per second has got to %v", c.perSecond, c.sum)
	}
}
