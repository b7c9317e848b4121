package distfft_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/fft/distfft"
	"github.com/gaspi-go/gaspi-go/examples/fft/serial"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A sample is a grid and its transform, computed on one rank.
type sample struct {
	grid    distfft.Grid
	in, out []complex128
}

func newSample(grid distfft.Grid, at func(i int) complex128) sample {
	n, _ := grid.Points()
	s := sample{grid: grid, in: make([]complex128, n)}
	for i := range s.in {
		s.in[i] = at(i)
	}
	s.out = append([]complex128(nil), s.in...)
	serial.Forward([3]int{grid.NX, grid.NY, grid.NZ}, s.out)
	return s
}

// random are numbers that are exact in float32.
func random(seed uint64, real bool) func(int) complex128 {
	rng := rand.New(rand.NewPCG(seed, 2))
	draw := func() float64 { return float64(rng.IntN(2001)-1000) / 1024 }
	return func(int) complex128 {
		if real {
			return complex(draw(), 0)
		}
		return complex(draw(), draw())
	}
}

// part is a box of a grid whose rows have nz numbers.
func part(grid distfft.Grid, values []complex128, box distfft.Box) []complex128 {
	var all []complex128
	for x := box.X.Lo; x < box.X.Lo+box.X.N; x++ {
		for y := box.Y.Lo; y < box.Y.Lo+box.Y.N; y++ {
			row := (x*grid.NY + y) * grid.NZ
			all = append(all, values[row+box.Z.Lo:row+box.Z.Lo+box.Z.N]...)
		}
	}
	return all
}

// as are values in another type.
func as[T distfft.Number](values []complex128) []T {
	out := make([]T, len(values))
	for i, v := range values {
		switch p := any(&out[i]).(type) {
		case *float32:
			*p = float32(real(v))
		case *float64:
			*p = real(v)
		case *complex64:
			*p = complex64(v)
		case *complex128:
			*p = v
		}
	}
	return out
}

// back is the reverse of as.
func back[T distfft.Number](values []T) []complex128 {
	out := make([]complex128, len(values))
	for i := range values {
		switch v := any(values[i]).(type) {
		case float32:
			out[i] = complex(float64(v), 0)
		case float64:
			out[i] = complex(v, 0)
		case complex64:
			out[i] = complex128(v)
		case complex128:
			out[i] = v
		}
	}
	return out
}

// gap is the distance of two vectors and the length of the second, squared.
func gap(got, want []complex128) (distance, length float64) {
	for i, w := range want {
		d := got[i] - w
		distance += real(d)*real(d) + imag(d)*imag(d)
		length += real(w)*real(w) + imag(w)*imag(w)
	}
	return distance, length
}

// compare transforms samples as bands on so many ranks, there and back, and reports
// errors relative to the size of what is right, over all ranks.
func compare[In distfft.Number, Out distfft.Complex](t *testing.T, ranks int, cfg distfft.Config, samples []sample, tolerance float64) {
	t.Helper()
	type sums struct{ there, thereSize, back, backSize float64 }
	perRank := make([]sums, ranks)
	err := gaspi.Local(t.Context(), ranks, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		plan, err := distfft.New[In, Out](ctx, p.World(), cfg)
		if err != nil {
			return err
		}
		var srcs [][]In
		var dsts [][]Out
		for _, s := range samples {
			srcs = append(srcs, as[In](part(s.grid, s.in, plan.Input())))
			dsts = append(dsts, make([]Out, plan.Output().Count()))
		}
		if err := plan.ForwardBands(ctx, dsts, srcs); err != nil {
			return err
		}
		sum := &perRank[p.Rank()]
		for i, s := range samples {
			d, l := gap(back(dsts[i]), part(s.grid, s.out, plan.Output()))
			sum.there, sum.thereSize = sum.there+d, sum.thereSize+l
			clear(srcs[i])
		}
		if err := plan.InverseBands(ctx, srcs, dsts); err != nil {
			return err
		}
		for i, s := range samples {
			d, l := gap(back(srcs[i]), part(s.grid, s.in, plan.Input()))
			sum.back, sum.backSize = sum.back+d, sum.backSize+l
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		return plan.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	var all sums
	for _, s := range perRank {
		all.there, all.thereSize = all.there+s.there, all.thereSize+s.thereSize
		all.back, all.backSize = all.back+s.back, all.backSize+s.backSize
	}
	if e := math.Sqrt(all.there / all.thereSize); !(e <= tolerance) {
		t.Errorf("forward is off by %.2g, want at most %.2g", e, tolerance)
	}
	if e := math.Sqrt(all.back / all.backSize); !(e <= tolerance) {
		t.Errorf("forward and inverse are off by %.2g, want at most %.2g", e, tolerance)
	}
}

// Errors that are allowed, relative to the size of the result.
const (
	tolerance64 = 1e-13
	tolerance32 = 1e-5
)

// everyKind compares all four combinations of types.
func everyKind(t *testing.T, ranks int, cfg distfft.Config, seed uint64) {
	var complexes, reals []sample
	for i := range uint64(3) {
		complexes = append(complexes, newSample(cfg.Grid, random(seed+i, false)))
		reals = append(reals, newSample(cfg.Grid, random(seed+i, true)))
	}
	t.Run("c2c-64", func(t *testing.T) { compare[complex128, complex128](t, ranks, cfg, complexes, tolerance64) })
	t.Run("c2c-32", func(t *testing.T) { compare[complex64, complex64](t, ranks, cfg, complexes, tolerance32) })
	if cfg.Q > cfg.Grid.NZ/2+1 {
		return
	}
	t.Run("r2c-64", func(t *testing.T) { compare[float64, complex128](t, ranks, cfg, reals, tolerance64) })
	t.Run("r2c-32", func(t *testing.T) { compare[float32, complex64](t, ranks, cfg, reals, tolerance32) })
}

// TestSlabsAndPencils goes through grids of ranks, sizes that are not divisible,
// primes, and exchanges under way at a time.
func TestSlabsAndPencils(t *testing.T) {
	for i, c := range []distfft.Config{
		{Grid: distfft.Grid{NX: 1, NY: 1, NZ: 1}, P: 1, Q: 1},
		{Grid: distfft.Grid{NX: 8, NY: 8, NZ: 8}, P: 1, Q: 1, Depth: 1},
		{Grid: distfft.Grid{NX: 8, NY: 8, NZ: 8}, P: 2, Q: 1},
		{Grid: distfft.Grid{NX: 7, NY: 11, NZ: 13}, P: 3, Q: 1, Depth: 1},
		{Grid: distfft.Grid{NX: 7, NY: 11, NZ: 13}, P: 7, Q: 1, Depth: 2},
		{Grid: distfft.Grid{NX: 16, NY: 12, NZ: 10}, P: 4, Q: 1, Depth: 1},
		{Grid: distfft.Grid{NX: 9, NY: 9, NZ: 2}, P: 9, Q: 1},
		{Grid: distfft.Grid{NX: 12, NY: 10, NZ: 14}, P: 1, Q: 3, Depth: 1},
		{Grid: distfft.Grid{NX: 8, NY: 8, NZ: 8}, P: 2, Q: 2, Depth: 1},
		{Grid: distfft.Grid{NX: 5, NY: 17, NZ: 31}, P: 3, Q: 2},
		{Grid: distfft.Grid{NX: 6, NY: 9, NZ: 15}, P: 2, Q: 4, Depth: 2},
		{Grid: distfft.Grid{NX: 3, NY: 3, NZ: 5}, P: 3, Q: 3, Depth: 1},
		{Grid: distfft.Grid{NX: 5, NY: 7, NZ: 6}, P: 5, Q: 1, Depth: 3},
		{Grid: distfft.Grid{NX: 2, NY: 3, NZ: 1030}, P: 2, Q: 1, Depth: 1},
		{Grid: distfft.Grid{NX: 1031, NY: 2, NZ: 4}, P: 2, Q: 1},
		{Grid: distfft.Grid{NX: 33, NY: 20, NZ: 47}, P: 3, Q: 2, Depth: 1},
	} {
		t.Run(fmt.Sprintf("%v/%dx%d/depth%d", c.Grid, c.P, c.Q, c.Depth), func(t *testing.T) {
			everyKind(t, c.P*c.Q, c, uint64(i))
		})
	}
}

// TestLargeGrid is the largest grid of the table in the README.
func TestLargeGrid(t *testing.T) {
	grid := distfft.Grid{NX: 128, NY: 128, NZ: 128}
	reals := []sample{newSample(grid, random(1, true))}
	complexes := []sample{newSample(grid, random(1, false))}
	compare[complex128, complex128](t, 2, distfft.Config{Grid: grid, P: 2, Q: 1}, complexes, tolerance64)
	compare[complex64, complex64](t, 4, distfft.Config{Grid: grid, P: 2, Q: 2}, complexes, tolerance32)
	compare[float64, complex128](t, 3, distfft.Config{Grid: grid, P: 3, Q: 1}, reals, tolerance64)
}

// TestImpulseAndMode transforms what has a transform that everybody knows.
func TestImpulseAndMode(t *testing.T) {
	grid := distfft.Grid{NX: 6, NY: 10, NZ: 9}
	impulse := newSample(grid, func(i int) complex128 {
		if i == 0 {
			return 2
		}
		return 0
	})
	for i, v := range impulse.out {
		if v != 2 {
			t.Fatalf("the oracle has %v at %d, want 2", v, i)
		}
	}
	mode := sample{grid: grid, in: make([]complex128, 540), out: make([]complex128, 540)}
	const kx, ky, kz = 5, 3, 7
	for i := range mode.in {
		x, y, z := i/90, i/9%10, i%9
		s, c := math.Sincos(2 * math.Pi * (float64(kx*x%6)/6 + float64(ky*y%10)/10 + float64(kz*z%9)/9))
		mode.in[i] = complex(c, s)
	}
	mode.out[(kx*10+ky)*9+kz] = 540
	for _, c := range []distfft.Config{{Grid: grid, P: 4, Q: 1, Depth: 1}, {Grid: grid, P: 2, Q: 3}} {
		compare[complex128, complex128](t, c.P*c.Q, c, []sample{impulse, mode}, tolerance64)
		compare[complex64, complex64](t, c.P*c.Q, c, []sample{impulse, mode}, tolerance32)
		compare[float64, complex128](t, c.P*c.Q, c, []sample{impulse}, tolerance64)
	}
}
