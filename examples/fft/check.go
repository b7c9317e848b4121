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
		b.src = append(b.src, make([]In, input.Count()))
		b.dst = append(b.dst, make([]Out, output.Count()))
		fill(b.src[i], cfg.Grid, input, o.seed, i)
	}
	return b, nil
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
	if err := b.plan.ForwardBands(ctx, b.dst, b.src); err != nil {
		return e, err
	}
	before, after := b.power()
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

// power is the sum of squares of this rank's part of all bands, and of their transforms
// divided by the number of points, which is the same over all ranks.
func (b *bands[In, Out]) power() (before, after float64) {
	for _, mem := range b.src {
		for _, v := range mem {
			before += square(wide(v))
		}
	}
	points, _ := b.grid.Points()
	box, nz := b.plan.Output(), b.grid.NZ
	_, half := any(*new(In)).(float64)
	if _, ok := any(*new(In)).(float32); ok {
		half = true
	}
	for _, mem := range b.dst {
		for i, v := range mem {
			weight := 1.0
			if k := box.Z.Lo + i%box.Z.N; half && k > 0 && 2*k != nz {
				weight = 2 // it stands for its mirror image, too
			}
			after += weight * square(wide(v)) / float64(points)
		}
	}
	return before, after
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
