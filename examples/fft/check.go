package main

import (
	"context"
	"math"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/examples/fft/distfft"
	"github.com/gaspi-go/gaspi-go/examples/fft/serial"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// bands are this rank's parts of all bands, before and after Forward.
type bands[In distfft.Number, Out distfft.Complex] struct {
	plan *distfft.Plan[In, Out]
	proc *gaspi.Proc
	cfg  distfft.Config
	grid distfft.Grid
	seed uint64
	src  [][]In
	dst  [][]Out
}

// newBands makes the bands of a job; the plan is for the caller to add.
func newBands[In distfft.Number, Out distfft.Complex](p *gaspi.Proc, cfg distfft.Config, o options) (bands[In, Out], error) {
	b := bands[In, Out]{proc: p, cfg: cfg, grid: cfg.Grid, seed: o.seed}
	input, output, err := distfft.Boxes[In, Out](cfg, int(p.Rank()))
	if err != nil {
		return b, err
	}
	for i := range o.bands {
		src, dst := bandMemory[In, Out](input.Count(), output.Count())
		fill(src, cfg.Grid, input, o.seed, i)
		b.src, b.dst = append(b.src, src), append(b.dst, dst)
	}
	return b, nil
}

// bandMemory is memory for a rank's part of a band before and after Forward: the same
// if the two are of one type.
func bandMemory[In distfft.Number, Out distfft.Complex](before, after int) ([]In, []Out) {
	both := make([]Out, max(before, after))
	if src, same := any(both).([]In); same {
		return src[:before], both[:after]
	}
	return make([]In, before), both[:after]
}

// Errors is how far results are from what is right, relative to its size, over all
// ranks.
type Errors struct {
	Inverse  float64  `json:"forward_inverse"`  // forward and inverse, all bands
	Parseval float64  `json:"parseval"`         // of the sum of squares, all bands
	Serial   *float64 `json:"serial,omitempty"` // forward of the first band, if that was asked for
}

// check transforms all bands there and back and compares. It is collective.
func (b *bands[In, Out]) check(ctx context.Context, verify bool) (Errors, error) {
	var e Errors
	before := power(b.src, func(int) float64 { return 1 })
	if err := b.plan.ForwardBands(ctx, b.dst, b.src); err != nil {
		return e, err
	}
	after := b.powerAfter()
	if verify {
		serial, err := b.compare(ctx)
		if err != nil {
			return e, err
		}
		e.Serial = &serial
	}
	if err := b.plan.InverseBands(ctx, b.src, b.dst); err != nil {
		return e, err
	}
	sums := []float64{before, after, b.distance()}
	if err := gaspi.AllReduce(ctx, b.proc.World(), sums, sums, gaspi.Sum); err != nil {
		return e, err
	}
	e.Parseval = math.Abs(sums[1]/sums[0] - 1)
	e.Inverse = math.Sqrt(sums[2] / sums[0])
	return e, nil
}

// power is the sum of squares of numbers, each times a weight by its index.
func power[T distfft.Number](bands [][]T, weight func(i int) float64) float64 {
	sum := 0.0
	for _, mem := range bands {
		for i, v := range mem {
			sum += weight(i) * square(wide(v))
		}
	}
	return sum
}

// powerAfter is the power of the transforms divided by the number of points, which over
// all ranks is the power of the bands.
func (b *bands[In, Out]) powerAfter() float64 {
	points, _ := b.grid.Points()
	box, nz := b.plan.Output(), b.grid.NZ
	half := realNumbers[In]()
	return power(b.dst, func(i int) float64 {
		if k := box.Z.Lo + i%box.Z.N; half && k > 0 && 2*k != nz {
			return 2 / float64(points) // it stands for its mirror image, too
		}
		return 1 / float64(points)
	})
}

// realNumbers reports whether a type has no imaginary part.
func realNumbers[T distfft.Number]() bool {
	switch any(*new(T)).(type) {
	case float32, float64:
		return true
	}
	return false
}

// distance is the sum of squares of what src is off from what it was filled with.
func (b *bands[In, Out]) distance() float64 {
	sum := 0.0
	for band, mem := range b.src {
		each(b.grid, b.plan.Input(), func(i, point int) {
			sum += square(wide(mem[i]) - wide(number[In](valueAt(b.seed, band, point))))
		})
	}
	return sum
}

// compare collects the transform of the first band on rank 0, which computes it by
// itself, and returns the relative distance, on rank 0. It is collective.
func (b *bands[In, Out]) compare(ctx context.Context) (float64, error) {
	team, err := collectives.NewTeam(ctx, b.proc.World(), collectives.Config{})
	if err != nil {
		return 0, err
	}
	var boxes []distfft.Box
	var counts []int
	total := 0
	for r := range b.proc.Size() {
		_, box, err := distfft.Boxes[In, Out](b.cfg, r)
		if err != nil {
			return 0, err
		}
		boxes, counts, total = append(boxes, box), append(counts, box.Count()), total+box.Count()
	}
	var all []Out
	if b.proc.Rank() == 0 {
		all = make([]Out, total)
	}
	if err := collectives.GatherV(ctx, team, 0, all, b.dst[0], counts); err != nil {
		return 0, err
	}
	distance := 0.0
	if b.proc.Rank() == 0 {
		distance = b.apart(all, boxes)
	}
	if err := b.proc.Barrier(ctx, b.proc.World()); err != nil {
		return 0, err
	}
	return distance, team.Close()
}

// apart is the distance between what all ranks have and the transform on this rank alone.
func (b *bands[In, Out]) apart(all []Out, boxes []distfft.Box) float64 {
	points, _ := b.grid.Points()
	want := make([]complex128, points)
	for i := range want {
		want[i] = wide(number[In](valueAt(b.seed, 0, i)))
	}
	serial.Forward([3]int{b.grid.NX, b.grid.NY, b.grid.NZ}, want)
	var off, size float64
	for _, box := range boxes {
		each(b.grid, box, func(i, point int) {
			off += square(wide(all[i]) - want[point])
			size += square(want[point])
		})
		all = all[box.Count():]
	}
	return math.Sqrt(off / size)
}
