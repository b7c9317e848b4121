package exchange

import (
	"math"
	"math/bits"
)

// A Quantizer holds numbers to multiples of a step, of which so many can be added that every
// sum is exact in float32. Contributions come in any order, and rounding would make the
// sum depend on it; on a grid it has the same bits always, and a run can be checked
// against another, bit by bit.
type Quantizer struct{ step, limit float32 }

// NewGrid makes a grid for numbers from -limit to limit, a power of two, of which at most
// terms are added. Its step is limit times terms over 2^24, terms rounded up to a power
// of two: below that float32 counts without gaps.
func NewGrid(limit float32, terms int) Quantizer {
	const exact = 1 << 24
	pow := float32(uint64(1) << bits.Len(uint(max(terms, 1)-1)))
	return Quantizer{step: limit * pow / exact, limit: limit}
}

// Round moves each number to the nearest point of the grid, those beyond its limits to
// the limits.
func (g Quantizer) Round(xs []float32) {
	inverse := 1 / g.step // both are powers of two
	for i, x := range xs {
		x = min(max(x, -g.limit), g.limit)
		xs[i] = float32(math.RoundToEven(float64(x*inverse))) * g.step
	}
}
