package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/google/go-cmp/cmp"
)

type atomicCall func(ctx context.Context, at gaspi.Remote, v uint64) (uint64, error)

// GPI-2 as released does it.
func TestUnalignedAtomicIsRefused(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		for r := range gaspi.Rank(2) {
			for _, offset := range []uint64{1, 3, 4, 7, 12, 63, math.MaxUint64} {
				for name, call := range map[string]atomicCall{
					"fetch_add": p.FetchAdd, "swap": p.Swap, "fetch_min": p.FetchMin, "fetch_max": p.FetchMax,
					"fetch_and": p.FetchAnd, "fetch_or": p.FetchOr, "fetch_xor": p.FetchXor,
					"compare_swap": func(ctx context.Context, at gaspi.Remote, v uint64) (uint64, error) {
						return p.CompareSwap(ctx, at, 0, v)
					},
				} {
					if _, err := call(ctx, s.At(r, offset), 1); !errors.Is(err, gaspi.ErrUnaligned) {
						t.Errorf("%s at %d of rank %d: %v, want ErrUnaligned", name, offset, r, err)
					}
				}
			}
		}
		ok(p.Barrier(ctx, p.World()))
		for i, b := range s.Bytes() {
			if b != 0 {
				t.Errorf("byte %d is %d: an atomic that was refused had an effect", i, b)
			}
		}
		return nil
	})
}

// All ranks, the owner of the words among them, work on the same words from two
// goroutines each. Every operation must come out as if they had taken turns.
func TestGASPIAtomicFetchAddUnderContention(t *testing.T) {
	const n, workers, each = 4, 2, 400
	const all = n * workers * each
	var olds [n][workers][]uint64
	ranktest.Local(t, n, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		word := func(i uint64) gaspi.Remote { return s.At(n-1, 8*i) }
		const add, cas, most, least, bitsOr, bitsAnd, bitsXor, swap = 0, 1, 2, 3, 4, 5, 6, 7
		if p.Rank() == 0 {
			must(p.Swap(ctx, word(least), math.MaxUint64))
			must(p.Swap(ctx, word(bitsAnd), math.MaxUint64))
		}
		ok(p.Barrier(ctx, p.World()))
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				try := func(old uint64, err error) uint64 {
					if err != nil {
						t.Error(err)
					}
					return old
				}
				bit := uint64(1) << (int(p.Rank())*workers + w)
				for i := range uint64(each) {
					id := (uint64(p.Rank())*workers+uint64(w))*each + i + 1
					olds[p.Rank()][w] = append(olds[p.Rank()][w], try(p.FetchAdd(ctx, word(add), 1)))
					for old := uint64(0); ; {
						was := try(p.CompareSwap(ctx, word(cas), old, old+3))
						if was == old {
							break
						}
						old = was
					}
					try(p.FetchMax(ctx, word(most), id))
					try(p.FetchMin(ctx, word(least), id))
					try(p.FetchOr(ctx, word(bitsOr), bit))
					try(p.FetchAnd(ctx, word(bitsAnd), ^bit))
					try(p.FetchXor(ctx, word(bitsXor), bit|1<<32)) // an even number of times
					try(p.Swap(ctx, word(swap), id))
				}
			})
		}
		wg.Wait()
		ok(p.Barrier(ctx, p.World()))
		if p.Rank() != n-1 {
			return p.Barrier(ctx, p.World())
		}
		got := must(gaspi.View[uint64](s, 0, 8))
		const mask = 1<<(n*workers) - 1
		want := []uint64{all, 3 * all, all, 1, mask, math.MaxUint64 &^ mask, 0, got[swap]}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("words (-want +got):\n%s", d)
		}
		if got[swap] == 0 || got[swap] > all {
			t.Errorf("the last swap left %d", got[swap])
		}
		return p.Barrier(ctx, p.World())
	})
	seen := make([]bool, all)
	for r := range olds {
		for w := range olds[r] {
			for _, old := range olds[r][w] {
				if old >= all || seen[old] {
					t.Fatalf("fetch_add returned %d, to rank %d and before", old, r)
				}
				seen[old] = true
			}
		}
	}
}

func TestGASPIAtomicCompareSwapReturnsTheOldValue(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 16))
		at := s.At(1-p.Rank(), 8*uint64(p.Rank()))
		word := uint64(0)
		step := func(name string, next uint64) func(old uint64, err error) {
			return func(old uint64, err error) {
				if err != nil || old != word {
					panic(fmt.Sprintf("%s: %d, %v; want %d", name, old, err, word))
				}
				word = next
			}
		}
		step("fetch_add", 5)(p.FetchAdd(ctx, at, 5))
		step("fetch_add of -1", 4)(p.FetchAdd(ctx, at, math.MaxUint64))
		step("compare_swap that fails", 4)(p.CompareSwap(ctx, at, 5, 9))
		step("compare_swap", 9)(p.CompareSwap(ctx, at, 4, 9))
		step("swap", 12)(p.Swap(ctx, at, 12))
		step("fetch_and", 8)(p.FetchAnd(ctx, at, 10))
		step("fetch_or", 11)(p.FetchOr(ctx, at, 3))
		step("fetch_xor", 1)(p.FetchXor(ctx, at, 10))
		step("fetch_max", 7)(p.FetchMax(ctx, at, 7))
		step("fetch_max of less", 7)(p.FetchMax(ctx, at, 6))
		step("fetch_min", 2)(p.FetchMin(ctx, at, 2))
		step("fetch_min is unsigned", 2)(p.FetchMin(ctx, at, math.MaxUint64))
		step("end", 2)(p.FetchAdd(ctx, at, 0))
		return p.Barrier(ctx, p.World())
	})
}
