package ssp_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/ssp"
)

func TestAllReduceAllocatesNothing(t *testing.T) {
	const runs = 200
	for _, ranks := range []int{1, 2, 3, 4} {
		for _, slack := range []int{0, 2} {
			t.Run(fmt.Sprintf("ranks=%d/slack=%d", ranks, slack), func(t *testing.T) {
				ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
					r, err := ssp.New[float64](ctx, p.World(), 100, ssp.Sum, slack)
					if err != nil {
						return err
					}
					mine := make([]float64, 100)
					call := func() {
						if _, err := r.AllReduce(context.Background(), mine); err != nil {
							t.Error(err)
						}
					}
					call() // the first use of a link sets it up
					if p.Rank() > 0 {
						for range runs + 1 { // AllocsPerRun makes one more
							call()
						}
						return r.Close(ctx)
					}
					// The count is that of all ranks.
					if allocs := testing.AllocsPerRun(runs, call); allocs > 0 {
						t.Errorf("%v allocations per call", allocs)
					}
					return r.Close(ctx)
				})
			})
		}
	}
}

// A rank sends one message per call and link at most, whatever the slack, and
// with slack 0 exactly one and nothing else.
func TestMessagesPerCall(t *testing.T) {
	const calls = 50
	links := map[int][]uint64{ // by number of ranks, then rank
		1: {0}, 2: {1, 1}, 3: {2, 1, 1}, 4: {2, 2, 2, 2}, 5: {3, 2, 2, 2, 1}, 6: {3, 3, 2, 2, 1, 1},
		8: {3, 3, 3, 3, 3, 3, 3, 3},
	}
	for ranks, want := range links {
		for _, slack := range []int{0, 1, 5} {
			t.Run(fmt.Sprintf("ranks=%d/slack=%d", ranks, slack), func(t *testing.T) {
				ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
					r, err := ssp.New[int32](ctx, p.World(), 10, ssp.Sum, slack)
					if err != nil {
						return err
					}
					wait := newJitter(1, p.Rank(), 20)
					p.ResetStats()
					for range calls {
						wait.pause()
						if _, err := r.AllReduce(ctx, make([]int32, 10)); err != nil {
							return err
						}
					}
					s := p.Stats()
					bytes := s.Writes * (64 + 10*4)
					switch most := calls * want[p.Rank()]; {
					case s.Writes > most || slack == 0 && s.Writes < most:
						return fmt.Errorf("%d messages in %d calls; want %d per call at most", s.Writes, calls, want[p.Rank()])
					case s.BytesWritten != bytes:
						return fmt.Errorf("%d bytes in %d messages, want %d", s.BytesWritten, s.Writes, bytes)
					case slack == 0 && s.Notifies > 0 || s.Notifies > most:
						return fmt.Errorf("%d notifications without data in %d calls", s.Notifies, calls)
					}
					return r.Close(ctx)
				})
			})
		}
	}
}

// While both directions of a link are used alike, messages carry all news of free
// slots, and no notification is posted for it.
func TestMessagesCarryCredits(t *testing.T) {
	for _, ranks := range []int{2, 3, 8} {
		ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
			r, err := ssp.New[int32](ctx, p.World(), 1, ssp.Sum, 5)
			if err != nil {
				return err
			}
			p.ResetStats()
			for range 50 {
				if _, err := r.AllReduce(ctx, []int32{1}); err != nil {
					return err
				}
				if err := p.Barrier(ctx, p.World()); err != nil {
					return err
				}
			}
			if s := p.Stats(); s.Notifies > 0 {
				return fmt.Errorf("%d notifications without data", s.Notifies)
			}
			return r.Close(ctx)
		})
	}
}

func BenchmarkAllReduce(b *testing.B) {
	for _, ranks := range []int{2, 4} {
		for _, slack := range []int{0, 2} {
			for _, n := range []int{8, 1 << 16} {
				b.Run(fmt.Sprintf("ranks=%d/slack=%d/n=%d", ranks, slack, n), func(b *testing.B) {
					b.SetBytes(int64(4 * n))
					b.ReportAllocs()
					err := gaspi.Local(b.Context(), ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
						r, err := ssp.New[float32](ctx, p.World(), n, ssp.Sum, slack)
						if err != nil {
							return err
						}
						mine := make([]float32, n)
						for range b.N {
							if _, err := r.AllReduce(ctx, mine); err != nil {
								return err
							}
						}
						return r.Close(ctx)
					})
					if err != nil {
						b.Fatal(err)
					}
				})
			}
		}
	}
}
