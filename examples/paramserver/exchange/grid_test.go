package exchange_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/paramserver/exchange"
)

// TestGridMakesSumsExact adds numbers of a grid in random orders, and finds the same bits.
func TestGridMakesSumsExact(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
	for _, terms := range []int{1, 2, 3, 15, 16, 17, 1000} {
		grid := exchange.NewGrid(8, terms)
		for range 200 {
			xs := make([]float32, terms)
			for i := range xs {
				xs[i] = float32(r.NormFloat64()) * 6 // some are beyond the limits
			}
			grid.Round(xs)
			want := float64(0)
			for _, x := range xs {
				want += float64(x)
			}
			r.Shuffle(terms, func(i, j int) { xs[i], xs[j] = xs[j], xs[i] })
			got := float32(0)
			for _, x := range xs {
				got += x
			}
			if float64(got) != want {
				t.Fatalf("seed %d: %d terms add up to %v, exactly %v", seed, terms, got, want)
			}
		}
	}
}

func TestGridRound(t *testing.T) {
	grid := exchange.NewGrid(8, 1) // steps of 2^-21
	const step = 1.0 / (1 << 21)
	for _, c := range []struct{ x, want float32 }{
		{0, 0}, {9, 8}, {-100, -8}, {step, step}, {step / 4, 0}, {-0.75 * step, -step}, {1.5 * step, 2 * step}, {2.5 * step, 2 * step},
	} {
		got := []float32{c.x}
		grid.Round(got)
		if got[0] != c.want {
			t.Errorf("%v becomes %v, want %v", c.x, got[0], c.want)
		}
	}
}
