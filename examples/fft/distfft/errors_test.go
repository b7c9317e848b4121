package distfft_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/fft/distfft"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// TestErrors goes through what a plan refuses, and sees that it says so and that no
// refusal spoils the plan.
func TestErrors(t *testing.T) {
	grid := distfft.Grid{NX: 4, NY: 4, NZ: 4}
	err := gaspi.Local(t.Context(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		if _, err := distfft.New[float64, complex64](ctx, p.World(), distfft.Config{Grid: grid, P: 2, Q: 1}); err == nil || !strings.Contains(err.Error(), "mixes precisions") {
			t.Errorf("mixed precisions: %v", err)
		}
		if _, err := distfft.New[complex64, complex64](ctx, p.World(), distfft.Config{Grid: grid, P: 3, Q: 1}); err == nil || !strings.Contains(err.Error(), "choose numbers whose product is 2") {
			t.Errorf("another number of ranks: %v", err)
		}
		plan, err := distfft.New[complex128, complex128](ctx, p.World(), distfft.Config{Grid: grid, P: 2, Q: 1})
		if err != nil {
			return err
		}
		src, dst := make([]complex128, 32), make([]complex128, 32)
		if err := plan.Forward(ctx, dst, src[:31]); err == nil || !strings.Contains(err.Error(), "band 0 has 31 points to read and 32 to write; on this rank a grid has 32 and 32") {
			t.Errorf("a short source: %v", err)
		}
		if err := plan.ForwardBands(ctx, [][]complex128{dst, dst}, [][]complex128{src}); err == nil || !strings.Contains(err.Error(), "1 bands to read and 2 to write") {
			t.Errorf("one band more: %v", err)
		}
		if err := plan.Forward(ctx, dst, src); err != nil {
			t.Errorf("after all that: %v", err)
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		if err := plan.Close(); err != nil {
			return err
		}
		if err := plan.Forward(ctx, dst, src); !errors.Is(err, gaspi.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestInterrupted sees that a transform that waits in vain ends with its context, and
// that the plan can then be closed and nothing else.
func TestInterrupted(t *testing.T) {
	grid := distfft.Grid{NX: 4, NY: 4, NZ: 4}
	err := gaspi.Local(t.Context(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		plan, err := distfft.New[complex128, complex128](ctx, p.World(), distfft.Config{Grid: grid, P: 2, Q: 1})
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			ended, cancel := context.WithCancel(ctx)
			cancel()
			mem := make([]complex128, 32)
			if err := plan.Forward(ended, mem, mem); !errors.Is(err, context.Canceled) {
				t.Errorf("alone: %v", err)
			}
			if err := plan.Forward(ctx, mem, mem); err == nil || !strings.Contains(err.Error(), "this plan can only be closed") {
				t.Errorf("once more: %v", err)
			}
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		return plan.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDeadRank sees that a transform that needs a rank that died says which.
func TestDeadRank(t *testing.T) {
	grid := distfft.Grid{NX: 6, NY: 6, NZ: 6}
	died := errors.New("has had enough")
	var made sync.WaitGroup // rank 1 dies when all have a plan
	made.Add(3)
	var told sync.WaitGroup // survivors stay until both have been told, or they would miss each other
	told.Add(2)
	err := gaspi.Local(t.Context(), 3, gaspi.Config{KeepGoing: true}, func(ctx context.Context, p *gaspi.Proc) error {
		plan, err := distfft.New[float32, complex64](ctx, p.World(), distfft.Config{Grid: grid, P: 3, Q: 1, Depth: 1})
		made.Done()
		made.Wait()
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			return died
		}
		src, dst := make([]float32, plan.Input().Count()), make([]complex64, plan.Output().Count())
		err = plan.Forward(ctx, dst, src)
		told.Done()
		told.Wait()
		dead, ok := errors.AsType[*gaspi.RankError](err)
		if !ok || dead.Rank != 1 {
			t.Errorf("rank %d: %v does not name rank 1", p.Rank(), err)
		}
		return plan.Close()
	})
	if !errors.Is(err, died) {
		t.Error(err)
	}
}

// TestSameMemory transforms bands in the memory that they are in.
func TestSameMemory(t *testing.T) {
	grid := distfft.Grid{NX: 6, NY: 6, NZ: 5}
	s := newSample(grid, random(9, false))
	err := gaspi.Local(t.Context(), 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		plan, err := distfft.New[complex128, complex128](ctx, p.World(), distfft.Config{Grid: grid, P: 3, Q: 1, Depth: 1})
		if err != nil {
			return err
		}
		mem := part(grid, s.in, plan.Input())
		if err := plan.Forward(ctx, mem, mem); err != nil {
			return err
		}
		if d, l := gap(mem, part(grid, s.out, plan.Output())); !(d <= tolerance64*tolerance64*l) {
			t.Errorf("forward in place is off by %.2g of %.2g", d, l)
		}
		if err := plan.Inverse(ctx, mem, mem); err != nil {
			return err
		}
		if d, l := gap(mem, part(grid, s.in, plan.Input())); !(d <= tolerance64*tolerance64*l) {
			t.Errorf("there and back in place is off by %.2g of %.2g", d, l)
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		return plan.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}
