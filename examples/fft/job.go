package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/gaspi-go/gaspi-go/examples/fft/distfft"
	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// measureAll makes all runs that the command line asks for and reports them. All ranks
// call it.
func measureAll(ctx context.Context, p *gaspi.Proc, o options, out io.Writer) error {
	switch {
	case o.single && o.real:
		return measureTypes[float32, complex64](ctx, p, o, out)
	case o.single:
		return measureTypes[complex64, complex64](ctx, p, o, out)
	case o.real:
		return measureTypes[float64, complex128](ctx, p, o, out)
	}
	return measureTypes[complex128, complex128](ctx, p, o, out)
}

func measureTypes[In distfft.Number, Out distfft.Complex](ctx context.Context, p *gaspi.Proc, o options, out io.Writer) error {
	if err := program.AgreeOnFiles(ctx, p, o.json, o.plot); err != nil {
		return err
	}
	var sets [][]distfft.Config // by grid, then by overlap
	for _, grid := range o.grids {
		set, err := prepare[In, Out](ctx, p, o, grid)
		if err != nil {
			return err
		}
		sets = append(sets, set)
	}
	report := newReport(o, p.Size())
	var shown error // of the output, at rank 0
	for _, set := range sets {
		runs, err := measure[In, Out](ctx, p, set, o)
		if err != nil {
			return err
		}
		for _, run := range runs {
			report.Runs = append(report.Runs, run)
			if p.Rank() == 0 {
				shown = cmp.Or(shown, program.Show(out, func(w io.Writer) { report.writeRun(w, len(report.Runs)-1) }))
			}
		}
	}
	err := report.network(ctx, p)
	if err != nil {
		return err
	}
	if p.Rank() == 0 {
		shown = cmp.Or(shown, program.Show(out, report.writeNetwork))
		err = cmp.Or(program.SaveJSON(o.json, report), program.Save(o.plot, report.writeSVG), shown)
	}
	return program.Agree(ctx, p, err)
}

// prepare checks whether a grid can be transformed, with every overlap that was asked
// for. It is collective.
func prepare[In distfft.Number, Out distfft.Complex](ctx context.Context, p *gaspi.Proc, o options, grid distfft.Grid) ([]distfft.Config, error) {
	var set []distfft.Config
	for _, overlap := range o.overlaps {
		cfg, err := o.config(grid, overlap, p.Size())
		if err != nil {
			return nil, program.UsageError{Err: err}
		}
		set = append(set, cfg)
	}
	need, err := memory[In, Out](set, o)
	if err != nil {
		return nil, program.UsageError{Err: err}
	}
	return set, program.Agree(ctx, p, enough(need, onHost(p), grid))
}

// onHost is how many ranks share the memory of this host. Where a network is emulated,
// each believes to be alone.
func onHost(p *gaspi.Proc) int {
	if _, emulated := p.Emulation().Network(); emulated {
		return p.Size()
	}
	return p.LocalSize()
}

// config is the layout of a grid on so many ranks.
func (o *options) config(grid distfft.Grid, overlap, ranks int) (distfft.Config, error) {
	cfg := distfft.Config{Grid: grid, P: ranks, Q: 1, Depth: overlap, AllToAll: o.algorithm}
	if !o.pencil {
		return cfg, nil
	}
	if o.rankGrid != [2]int{} {
		cfg.P, cfg.Q = o.rankGrid[0], o.rankGrid[1]
		if cfg.P > ranks || cfg.Q > ranks || cfg.P*cfg.Q != ranks {
			return cfg, fmt.Errorf("--grid-ranks %dx%d is not for the %d ranks of this job; give two numbers whose product is %d", cfg.P, cfg.Q, ranks, ranks)
		}
		return cfg, nil
	}
	var err error
	cfg.P, cfg.Q, err = distfft.RankGrid(grid, o.real, ranks)
	return cfg, err
}

// memory is how many bytes the rank that needs most will allocate for a grid, with all
// overlaps at the same time.
func memory[In distfft.Number, Out distfft.Complex](set []distfft.Config, o options) (uint64, error) {
	var need uint64
	for _, cfg := range set {
		n, err := distfft.Memory[In, Out](cfg)
		if err != nil {
			return 0, err
		}
		need += n
	}
	in, out, err := distfft.Boxes[In, Out](set[0], 0)
	if err != nil {
		return 0, err
	}
	before, after := uint64(in.Count())*uint64(reflect.TypeFor[In]().Size()), uint64(out.Count())*uint64(reflect.TypeFor[Out]().Size())
	if realNumbers[In]() {
		need += uint64(o.bands) * (before + after)
	} else {
		need += uint64(o.bands) * max(before, after)
	}
	if o.verify {
		points, _ := set[0].Grid.Points()
		need += uint64(points) * (16 + uint64(reflect.TypeFor[Out]().Size()))
	}
	return need, nil
}

// enough returns an error unless the ranks of this host have need bytes of memory each. If the
// system cannot tell, it returns nil.
func enough(need uint64, ranks int, grid distfft.Grid) error {
	free, err := availableMemory()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if need > free/uint64(ranks) {
		return fmt.Errorf("grid %v needs %s on each of the %d ranks of this host, which has %s left; use a smaller grid, fewer bands, less overlap, or more hosts",
			grid, byteCount(need), ranks, byteCount(free))
	}
	return nil
}
