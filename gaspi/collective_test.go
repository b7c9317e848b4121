package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/google/go-cmp/cmp"
)

// GPI-2 refuses the second of the two.
func TestGASPIConcurrentBarrierAndAllReduce(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		for round := range 3 {
			if p.Rank() == 0 {
				if err := p.Barrier(ended(), p.World()); !errors.Is(err, context.Canceled) {
					return fmt.Errorf("barrier that nobody else has entered: %v", err)
				}
			}
			x := []int64{int64(round), int64(p.Rank())}
			ok(gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum))
			if x[0] != 3*int64(round) || x[1] != 3 {
				return fmt.Errorf("round %d: sum %v", round, x)
			}
			ok(p.Barrier(ctx, p.World()))
		}
		// Really together: one goroutine in each, on every rank.
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if err := p.Barrier(ctx, p.World()); err != nil {
					t.Error(err)
				}
			})
			both.Go(func() {
				x := []float64{1}
				if err := gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum); err != nil || x[0] != 3 {
					t.Errorf("sum %v, %v", x, err)
				}
			})
			both.Wait()
		}
		return nil
	})
}

// GPI-2 copies the send buffer again at every call, and the ranks disagree.
func TestGASPIDifference19AllReduceKeepsItsFirstContribution(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		send, recv := []int64{100}, []int64{-1}
		switch p.Rank() {
		case 2: // a child, waits for the result
			limited, cancel := soon(ctx)
			defer cancel()
			err := gaspi.AllReduce(limited, p.World(), send, recv, gaspi.Sum)
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "rank 0") {
				return fmt.Errorf("alone: %v, want the deadline and whom it waits for", err)
			}
		case 0: // the root of the tree, waits for its children
			limited, cancel := soon(ctx)
			defer cancel()
			err := gaspi.AllReduce(limited, p.World(), send, recv, gaspi.Sum)
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "rank 1") {
				return fmt.Errorf("without rank 1: %v, want the deadline and whom it waits for", err)
			}
			quiet(ctx) // rank 2 has reached its limit too
			tell(p, s, 1, 0)
		case 1:
			send[0] = 7
			await(ctx, s, 0)
		}
		if p.Rank() != 1 {
			if recv[0] != -1 {
				return fmt.Errorf("a call that timed out has stored %v", recv)
			}
			send[0] = 5000
			if err := gaspi.AllReduce(ctx, p.World(), send, []int64{0}, gaspi.Max); !errors.Is(err, gaspi.ErrMismatch) {
				return fmt.Errorf("another operation before the first is finished: %v, want ErrMismatch", err)
			}
		}
		ok(gaspi.AllReduce(ctx, p.World(), send, recv, gaspi.Sum))
		if recv[0] != 207 {
			return fmt.Errorf("got %d, want 207", recv[0])
		}
		return nil
	})
}

// The same while the result of the call before is still leaving this rank: the first member has sent
// it when its call returns, and nobody waits for its arrival.
func TestAllReduceKeepsFirstContributionEmulated(t *testing.T) {
	const n = 2500 // elements, which leave in 20 ms
	cfg := small
	cfg.AllReduceElements, cfg.Emulate = n, "bandwidth=1MB/s"
	ranktest.Local(t, 3, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		for round := range int64(5) {
			send, recv := slices.Repeat([]int64{round}, n), make([]int64, n)
			ok(gaspi.AllReduce(ctx, p.World(), recv, recv, gaspi.Sum))
			if err := gaspi.AllReduce(ended, p.World(), send, recv, gaspi.Sum); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("round %d: %v, want the end of the context", round, err)
			}
			clear(send) // it is the caller's
			ok(gaspi.AllReduce(ctx, p.World(), send, recv, gaspi.Sum))
			if want := slices.Repeat([]int64{3 * round}, n); !slices.Equal(want, recv) {
				return fmt.Errorf("round %d: sums of %d, want %d", round, recv[0], want[0])
			}
		}
		return nil
	})
}

// Every rank only ever tests, as with GASPI_TEST; each call does its part, and
// nothing is sent or counted twice.
func TestCollectivesFinishByPollingAlone(t *testing.T) {
	const n = 5
	ranktest.Local(t, n, small, func(ctx context.Context, p *gaspi.Proc) error {
		g := must(p.NewGroup(0, 1, 2, 3, 4))
		ok(poll(g.Commit))
		var s *gaspi.Segment
		ok(poll(func(ctx context.Context) (err error) { s, err = p.CreateSegment(ctx, 1, 64, gaspi.Over(g)); return err }))
		for round := range int64(50) {
			ok(poll(func(ctx context.Context) error { return p.Barrier(ctx, g) }))
			x := []int64{round}
			ok(poll(func(ctx context.Context) error { return gaspi.AllReduce(ctx, g, x, x, gaspi.Sum) }))
			if x[0] != n*round {
				return fmt.Errorf("round %d: sum %d", round, x[0])
			}
		}
		ok(poll(func(ctx context.Context) error { return p.Barrier(ctx, g) }))
		return s.Delete()
	})
}

// GPI-2 sizes its buffer once and for all at 255 elements.
func TestGASPIAllreduceElemMaxIsConfigurable(t *testing.T) {
	for _, limit := range []int{0, 1000} {
		cfg := small
		cfg.AllReduceElements = limit
		err := gaspi.Local(t.Context(), 3, cfg, func(ctx context.Context, p *gaspi.Proc) error {
			limit := p.Config().AllReduceElements
			x := make([]float64, limit+1)
			for i := range x {
				x[i] = float64(i)
			}
			if err := gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum); !errors.Is(err, gaspi.ErrTooLarge) {
				return fmt.Errorf("%d elements: %v, want ErrTooLarge", len(x), err)
			}
			ok(gaspi.AllReduce(ctx, p.World(), x[:limit], x[:limit], gaspi.Sum))
			for i := range limit {
				if x[i] != float64(3*i) {
					return fmt.Errorf("element %d is %v", i, x[i])
				}
			}
			twice := make([]float32, 2*limit) // the limit is in elements of 8 bytes
			return gaspi.AllReduce(ctx, p.World(), twice, twice, gaspi.Max)
		})
		if err != nil {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func reduces[T gaspi.Number](ctx context.Context, p *gaspi.Proc, op gaspi.Op, mine, want T) {
	x := []T{mine}
	ok(gaspi.AllReduce(ctx, p.World(), x, x, op))
	if x[0] != want {
		panic(fmt.Sprintf("%v of %T: got %v, want %v", op, mine, x[0], want))
	}
}

func TestGASPIAllreduceOperations(t *testing.T) {
	ranktest.Local(t, 4, small, func(ctx context.Context, p *gaspi.Proc) error {
		r := int(p.Rank())
		reduces(ctx, p, gaspi.Sum, int8(r), 6)
		reduces(ctx, p, gaspi.Sum, uint16(math.MaxUint16), math.MaxUint16-3)
		reduces(ctx, p, gaspi.Prod, int32(-r-1), 24)
		reduces(ctx, p, gaspi.Min, int64(-r), -3)
		reduces(ctx, p, gaspi.Max, math.MaxUint64-uint64(r), math.MaxUint64)
		reduces(ctx, p, gaspi.Min, float32(r)-0.5, -0.5)
		reduces(ctx, p, gaspi.Max, float64(r)+0.5, 3.5)
		reduces(ctx, p, gaspi.Sum, float64(1)/8, 0.5)
		reduces(ctx, p, gaspi.And, uint32(0xf0|1<<r), 0xf0)
		reduces(ctx, p, gaspi.Or, uint8(1<<r), 0xf)
		reduces(ctx, p, gaspi.Xor, int32(1<<r|16), 0xf)
		if err := gaspi.AllReduce(ctx, p.World(), []float64{1}, []float64{1}, gaspi.Xor); err == nil {
			return errors.New("xor of float64 was possible")
		}
		if err := gaspi.AllReduce(ctx, p.World(), []int32{1}, []int32{1, 2}, gaspi.Sum); !errors.Is(err, gaspi.ErrMismatch) {
			return fmt.Errorf("vectors of two lengths: %v", err)
		}
		return gaspi.AllReduce[int64](ctx, p.World(), nil, nil, gaspi.Sum)
	})
}

// The place of the largest element: what a program needs a function of its own
// for.
func TestGASPIAllreduceUser(t *testing.T) {
	for _, n := range []int{1, 7, 20} {
		ranktest.Local(t, n, small, func(ctx context.Context, p *gaspi.Proc) error {
			value := int64((int(p.Rank())*5 + 3) % n)
			x := []int64{value, int64(p.Rank())}
			ok(gaspi.AllReduceFunc(ctx, p.World(), x, x, func(acc, in []int64) {
				if in[0] > acc[0] {
					copy(acc, in)
				}
			}))
			if x[0] != int64((int(x[1])*5+3)%n) || x[0] < value {
				return fmt.Errorf("largest %d at rank %d; rank %d has %d", x[0], x[1], p.Rank(), value)
			}
			return nil
		})
	}
}

// Sums of floating-point numbers depend on the order; it is the same everywhere.
func TestAllReduceGivesTheSameBitsEverywhere(t *testing.T) {
	const n = 20
	var sums [n]uint64
	ranktest.Local(t, n, small, func(ctx context.Context, p *gaspi.Proc) error {
		x := []float64{math.Pow(3, float64(p.Rank())) / 7}
		ok(gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum))
		sums[p.Rank()] = math.Float64bits(x[0])
		return nil
	})
	for r, bits := range sums {
		if bits != sums[0] {
			t.Errorf("rank %d got %#x, rank 0 %#x", r, bits, sums[0])
		}
	}
}

// GPI-2 takes the lock of the world's collectives for every atomic.
func TestAtomicWhileBarrierBlocks(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		if p.Rank() == 1 {
			await(ctx, s, 0)
			return p.Barrier(ctx, p.World())
		}
		inside := make(chan error, 1)
		go func() { inside <- p.Barrier(ctx, p.World()) }()
		synctest.Wait() // it sleeps in the barrier
		for _, r := range []gaspi.Rank{0, 1} {
			for want := range uint64(3) {
				if old := must(p.FetchAdd(ctx, s.At(r, 0), 1)); old != want {
					return fmt.Errorf("fetch_add at rank %d: %d, want %d", r, old, want)
				}
			}
		}
		if err := p.Barrier(ctx, p.World()); !errors.Is(err, gaspi.ErrInUse) {
			return fmt.Errorf("the same barrier from a second goroutine: %v, want ErrInUse", err)
		}
		tell(p, s, 1, 0)
		return <-inside
	})
}

func TestBarrierSaysWhoIsMissing(t *testing.T) {
	bubble(t, 4, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		if p.Rank() == 2 {
			for _, other := range []gaspi.NotificationID{0, 1, 3} {
				await(ctx, s, other)
			}
			return p.Barrier(ctx, p.World())
		}
		limited, cancel := soon(ctx)
		defer cancel()
		err := p.Barrier(limited, p.World())
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for rank 2:") {
			return fmt.Errorf("got %v, want the deadline and rank 2", err)
		}
		if !healthy(p) {
			return fmt.Errorf("a time limit has made somebody corrupt: %v", p.State())
		}
		tell(p, s, 2, gaspi.NotificationID(p.Rank()))
		return p.Barrier(ctx, p.World())
	})
}

// A rank may leave the job as soon as its own part of a barrier is done, while
// others are still on their way out of it.
func TestLeavingRightAfterABarrierDisturbsNobody(t *testing.T) {
	for _, n := range []int{2, 5, 18} {
		for range 30 {
			ranktest.Local(t, n, small, func(ctx context.Context, p *gaspi.Proc) error {
				x := []int32{1}
				ok(gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum))
				runtime.Gosched()
				return p.Barrier(ctx, p.World())
			})
		}
	}
}

func TestMismatchNamesBothCallsEverywhere(t *testing.T) {
	const n = 4
	var got [n]string
	cfg := small
	cfg.KeepGoing = true
	_ = gaspi.Local(t.Context(), n, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		x := []float64{1, 2}
		op := gaspi.Sum
		if p.Rank() == 3 {
			op = gaspi.Max
		}
		err := gaspi.AllReduce(ctx, p.World(), x, x, op)
		if !errors.Is(err, gaspi.ErrMismatch) {
			t.Errorf("rank %d: %v, want ErrMismatch", p.Rank(), err)
		}
		got[p.Rank()] = fmt.Sprint(err)
		// The group goes on: everybody has learned of it.
		y := []int32{1}
		ok(gaspi.AllReduce(ctx, p.World(), y, y, gaspi.Sum))
		if y[0] != n {
			t.Errorf("rank %d: the next sum is %d", p.Rank(), y[0])
		}
		return nil
	})
	for r, text := range got {
		if d := cmp.Diff(got[0], text); d != "" {
			t.Errorf("ranks 0 and %d (-0 +%d):\n%s", r, r, d)
		}
		for _, part := range []string{"rank 3", "sum of 2 float64", "max of 2 float64"} {
			if !strings.Contains(text, part) {
				t.Errorf("rank %d: %q does not say %q", r, text, part)
			}
		}
	}
}
