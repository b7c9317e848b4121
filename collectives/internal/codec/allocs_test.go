//go:build !race

package codec

import (
	"math"
	"testing"
)

// Not under the race detector, where sync.Pool, which s2 keeps its tables in,
// forgets things at random.
func TestCodingAllocatesNothing(t *testing.T) {
	for _, m := range []Method{Lossless(), ErrorBound(0.01), TopK(0.1)} {
		c := coder(t, m, float32s)
		src := made(float32s, 40000, func(i int) float64 { return math.Sin(float64(i) / 100) })
		form, back, lost := make([]byte, len(src)+HeaderSize), make([]byte, len(src)), make([]float64, 40000)
		once := func() {
			c.Encode(form, src, lost)
			if err := c.Decode(back, form); err != nil {
				t.Fatal(err)
			}
		}
		once()
		if n := testing.AllocsPerRun(20, once); n >= 1 { // a collection may empty the pools of s2
			t.Errorf("%v: %v allocations", m, n)
		}
	}
}
