package hoplite_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// on runs n ranks as goroutines of this process, each with its part of one store. In a program
// that gaspi-run starts, gaspi.Init returns the rank.
func on(n int, rank func(ctx context.Context, s *hoplite.Store, me gaspi.Rank) error) {
	err := gaspi.Local(context.Background(), n, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		s, err := hoplite.Open(ctx, p.World(), hoplite.Config{Capacity: 1 << 20})
		if err != nil {
			return err
		}
		if err := rank(ctx, s, p.Rank()); err != nil {
			return err
		}
		if err := p.Barrier(ctx, p.World()); err != nil { // nobody needs an object of this rank any more
			return err
		}
		return s.Close(ctx)
	})
	if err != nil {
		log.Fatal(err)
	}
}

// Get may come before Put: it waits for the object.
func ExampleGet() {
	on(3, func(ctx context.Context, s *hoplite.Store, me gaspi.Rank) error {
		if me == 1 {
			return hoplite.Put(ctx, s, "weights", []float32{0.5, 1.5})
		}
		weights, err := hoplite.Get[float32](ctx, s, "weights")
		if me == 2 && err == nil {
			fmt.Println(weights)
		}
		return err
	})
	// Output:
	// [0.5 1.5]
}

// A Ref is the memory of the store itself: nothing is copied, and nothing may be changed.
func ExampleRef() {
	on(2, func(ctx context.Context, s *hoplite.Store, me gaspi.Rank) error {
		if me == 0 {
			return hoplite.Put(ctx, s, "table", []int32{1, 2, 3})
		}
		table, err := hoplite.GetReadOnly[int32](ctx, s, "table")
		if err != nil {
			return err
		}
		fmt.Println(len(table.Data()), "elements, the last is", table.Data()[2])
		table.Release()
		return nil
	})
	// Output:
	// 3 elements, the last is 3
}

// One rank asks for the sum of an object of each rank, by their names, and gets it as another
// object.
func ExampleReduce() {
	on(3, func(ctx context.Context, s *hoplite.Store, me gaspi.Rank) error {
		if err := hoplite.Put(ctx, s, fmt.Sprint("gradient of ", me), []int64{1, int64(me)}); err != nil {
			return err
		}
		if me != 0 {
			return nil
		}
		names := []string{"gradient of 0", "gradient of 1", "gradient of 2"}
		if _, err := hoplite.Reduce[int64](ctx, s, "sum", names, hoplite.Sum); err != nil {
			return err
		}
		sum, err := hoplite.Get[int64](ctx, s, "sum")
		fmt.Println(sum)
		return err
	})
	// Output:
	// [3 3]
}

// Locations tells where an object is, and how long it is in bytes.
func ExampleLocations() {
	on(2, func(ctx context.Context, s *hoplite.Store, me gaspi.Rank) error {
		if me == 1 {
			return hoplite.Put(ctx, s, "big", make([]float64, 10_000))
		}
		if _, err := s.Wait(ctx, "big"); err != nil {
			return err
		}
		at, err := s.Locations(ctx, "big")
		fmt.Println(at.Size, "bytes at ranks", at.Ranks)
		return err
	})
	// Output:
	// 80000 bytes at ranks [1]
}
