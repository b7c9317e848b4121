package hoplite_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// One rank takes results in the order in which they are ready.
func ExampleStore() {
	on(3, func(ctx context.Context, s *hoplite.Store, me gaspi.Rank) error {
		if me != 0 {
			return hoplite.Put(ctx, s, fmt.Sprint("result of ", me), []int64{int64(me) * 100})
		}
		sum, open := int64(0), map[string]bool{"result of 1": true, "result of 2": true}
		for len(open) > 0 {
			ready, err := s.Wait(ctx, slices.Collect(maps.Keys(open))...)
			if err != nil {
				return err
			}
			delete(open, ready)
			result, err := hoplite.Get[int64](ctx, s, ready)
			if err != nil {
				return err
			}
			sum += result[0]
		}
		fmt.Println("sum", sum)
		return nil
	})
	// Output:
	// sum 300
}

// A store of a given size, for a network whose figures are known.
func ExampleConfig() {
	cfg := hoplite.Config{
		Capacity: 64 << 20,
		Links:    hoplite.Links{Bandwidth: 1e9, Latency: 50e-6},
	}
	err := gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		s, err := hoplite.Open(ctx, p.World(), cfg)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			fmt.Println("a store of", s.Group().Size(), "members")
		}
		return s.Close(ctx)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// a store of 2 members
}

// An error names the call and the object; its cause is within.
func ExampleError() {
	on(1, func(ctx context.Context, s *hoplite.Store, _ gaspi.Rank) error {
		if err := hoplite.Put(ctx, s, "weights", []float32{1, 2}); err != nil {
			return err
		}
		err := hoplite.Put(ctx, s, "weights", []float32{1, 2, 3})
		if failed, ok := errors.AsType[*hoplite.Error](err); ok {
			fmt.Println(failed.Call, failed.ID)
		}
		fmt.Println(errors.Is(err, hoplite.ErrExists))
		return nil
	})
	// Output:
	// put weights
	// true
}

// A reduction goes along a chain of ranks, whatever the store would choose.
func ExampleShape() {
	cfg := hoplite.Config{Capacity: 1 << 20, Shape: hoplite.ShapeChain}
	err := gaspi.Local(context.Background(), 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		s, err := hoplite.Open(ctx, p.World(), cfg)
		if err != nil {
			return err
		}
		if err := hoplite.Put(ctx, s, fmt.Sprint("part ", p.Rank()), make([]float64, 10_000)); err != nil {
			return err
		}
		if p.Rank() == 0 {
			parts := []string{"part 0", "part 1", "part 2"}
			if _, err := hoplite.Reduce[float64](ctx, s, "sum", parts, hoplite.Sum); err != nil {
				return err
			}
			at, err := s.Locations(ctx, "sum")
			if err != nil {
				return err
			}
			fmt.Println(at.Size, "bytes")
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		return s.Close(ctx)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 80000 bytes
}

// The counters of a store tell what its rank has sent.
func ExampleStats() {
	on(2, func(ctx context.Context, s *hoplite.Store, me gaspi.Rank) error {
		if me == 0 {
			if err := hoplite.Put(ctx, s, "big", make([]byte, 500_000)); err != nil {
				return err
			}
			_, err := s.Wait(ctx, "seen")
			fmt.Println(s.Stats().BytesSent, "bytes sent")
			return err
		}
		if _, err := hoplite.Get[byte](ctx, s, "big"); err != nil {
			return err
		}
		return hoplite.Put(ctx, s, "seen", []byte{1})
	})
	// Output:
	// 500000 bytes sent
}
