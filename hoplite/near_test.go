package hoplite_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// Goal: memory that its owner withdraws while it is read, and then gives back to the system so that it
// reads as zeros, counts as not read.
func TestReadOfOneThatLeaves(t *testing.T) {
	leave, left := make(chan struct{}), make(chan struct{})
	ranktest.Local(t, 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		s, err := hoplite.Open(ctx, p.World(), hoplite.Config{Capacity: 1 << 10})
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			defer close(left)
			<-leave
			return p.Close()
		}
		if !s.ReadsAround(1, func() {}) {
			t.Error("memory of a rank that is there was not read")
		}
		if s.ReadsAround(1, func() { close(leave); <-left }) {
			t.Error("memory of a rank that has left meanwhile counts as read")
		}
		return nil
	})
}

// Goal: each byte of a reduction is folded once, by the caller or for it by a rank that waits for the target; that has
// a core of its own.
func TestBytesAreFoldedOnce(t *testing.T) {
	const n, chunk = 10_001, 4096
	for _, cores := range []int{1, 2} {
		t.Setenv("GASPI_LOCAL_CORES", strconv.Itoa(cores))
		var sum atomic.Int64
		job(t, 2, hoplite.Config{Chunk: chunk}, func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
			if err := reduceOnce(ctx, p, s, "x", n); err != nil {
				return err
			}
			folded := int64(s.Stats().Folded)
			if cores == 1 && p.Rank() == 0 && folded != 0 {
				t.Errorf("a rank without a core of its own has folded %d bytes for another", folded)
			}
			sum.Add(folded)
			if err := p.Barrier(ctx, p.World()); err != nil {
				return err
			}
			if got := sum.Load(); got != 8*n {
				t.Errorf("%d bytes were folded, want %d", got, 8*n)
			}
			return nil
		})
	}
}

// Goal: a rank counts the cores of its host, of which it sees one alone if it is bound to that. A reduction
// has the same result whether its caller folds all sources, since ranks share cores, or others do.
func TestReduceWithFewCoresAndMany(t *testing.T) {
	const ranks, n = 4, 1 << 17
	want := make([]int64, n)
	for r := range ranks {
		for i, x := range numbers(r, n) {
			want[i] += x
		}
	}
	for _, cores := range []int{1, ranks - 1, ranks, 64} {
		t.Setenv("GASPI_LOCAL_CORES", strconv.Itoa(cores))
		job(t, ranks, hoplite.Config{}, func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
			if got := s.SharesCores(); got != (cores < ranks) {
				t.Errorf("%d ranks share %d cores: %v", ranks, cores, got)
			}
			ids := []string{"0", "1", "2", "3"}
			if err := hoplite.Put(ctx, s, ids[p.Rank()], numbers(int(p.Rank()), n)); err != nil {
				return err
			}
			if p.Rank() == 0 {
				if _, err := hoplite.Reduce[int64](ctx, s, "sum", ids, hoplite.Sum); err != nil {
					return err
				}
			}
			got, err := hoplite.Get[int64](ctx, s, "sum")
			if err != nil {
				return err
			}
			return same(got, want)
		})
	}
}
