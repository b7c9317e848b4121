package hoplite_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// bench runs a job of two ranks, of which one does the loop of the benchmark and the other
// what it is told by objects.
func bench(b *testing.B, cfg hoplite.Config, loop, other func(ctx context.Context, s *hoplite.Store) error) {
	b.Helper()
	err := gaspi.Local(b.Context(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		s, err := hoplite.Open(ctx, p.World(), cfg)
		if err != nil {
			return err
		}
		do := loop
		if p.Rank() == 1 {
			do = other
		}
		if err := do(ctx, s); err != nil {
			return err
		}
		return s.Close(ctx)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPutDelete is what a Put costs where everything is local or at the other rank.
func BenchmarkPutDelete(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			data := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			bench(b, hoplite.Config{}, func(ctx context.Context, s *hoplite.Store) error {
				for b.Loop() {
					if err := hoplite.Put(ctx, s, "x", data); err != nil {
						return err
					}
					if err := s.Delete(ctx, "x"); err != nil {
						return err
					}
				}
				return nil
			}, func(context.Context, *hoplite.Store) error { return nil })
		})
	}
}

// BenchmarkPingPong is a round trip: each rank puts an object that the other gets.
func BenchmarkPingPong(b *testing.B) {
	for _, size := range []int{8, 1 << 10, 64 << 10, 1 << 20, 64 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			data, back := make([]byte, size), make([]byte, size)
			rounds := make(chan bool, 1)
			b.SetBytes(2 * int64(size))
			b.ReportAllocs()
			trip := func(ctx context.Context, s *hoplite.Store, i int, first bool, into []byte) error {
				mine, other := fmt.Sprint("a", i), fmt.Sprint("b", i)
				if !first {
					mine, other = other, mine
					if _, err := hoplite.GetInto(ctx, s, other, into); err != nil {
						return err
					}
				}
				if err := hoplite.Put(ctx, s, mine, data); err != nil {
					return err
				}
				if first {
					if _, err := hoplite.GetInto(ctx, s, other, into); err != nil {
						return err
					}
				}
				return s.Delete(ctx, other)
			}
			bench(b, hoplite.Config{Capacity: 512 << 20}, func(ctx context.Context, s *hoplite.Store) error {
				defer close(rounds)
				for i := 0; b.Loop(); i++ {
					rounds <- true
					if err := trip(ctx, s, i, true, back); err != nil {
						return err
					}
				}
				return nil
			}, func(ctx context.Context, s *hoplite.Store) error {
				into := make([]byte, size)
				i := 0
				for range rounds {
					if err := trip(ctx, s, i, false, into); err != nil {
						return err
					}
					i++
				}
				return nil
			})
		})
	}
}
