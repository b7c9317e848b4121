package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/paramserver/exchange"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/google/go-cmp/cmp"
)

var ways = []exchange.Way{exchange.Objects, exchange.Turns, exchange.Eager}

// A play is a job in this process.
type play struct {
	ranks  int
	cfg    exchange.Config
	server func(ctx context.Context, s exchange.Server) error
	worker func(ctx context.Context, p *gaspi.Proc, w exchange.Worker) error
}

// run plays it; the error is as of gaspi.Local.
func (pl play) run(t *testing.T) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return gaspi.Local(ctx, pl.ranks, gaspi.Config{KeepGoing: true}, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() != 0 {
			w, err := exchange.Work(ctx, p, pl.cfg)
			if err != nil {
				return err
			}
			if err := pl.worker(ctx, p, w); err != nil {
				return err
			}
			return w.Close(ctx)
		}
		s, err := exchange.Serve(ctx, p, pl.cfg)
		if err != nil {
			return err
		}
		if err := pl.server(ctx, s); err != nil {
			return errors.Join(err, s.Close(ctx))
		}
		return s.Close(ctx)
	})
}

// value is element i of a worker's n-th contribution. Sums of all workers' are exact.
func value(r gaspi.Rank, n, i int) float32 { return float32(int(r)*1000 + n*10 + i%7) }

// TestSync plays a job in which all contribute to every sum, long enough that a store which
// forgot to delete would be full.
func TestSync(t *testing.T) {
	const rounds = 60
	for _, way := range ways {
		for _, ranks := range []int{2, 3, 6} {
			for _, size := range []int{1, 33, 20_001} {
				t.Run(fmt.Sprintf("%v/%d ranks/%d elements", way, ranks, size), func(t *testing.T) {
					all := func(workers int) int { return workers }
					err := play{
						ranks: ranks, cfg: exchange.Config{Way: way, Params: size + 2, Contribution: size, Quorum: all},
						server: func(ctx context.Context, s exchange.Server) error { return serveSync(ctx, s, rounds, ranks, size) },
						worker: func(ctx context.Context, p *gaspi.Proc, w exchange.Worker) error {
							return workSync(ctx, p, w, rounds, size)
						},
					}.run(t)
					if err != nil {
						t.Fatal(err)
					}
				})
			}
		}
	}
}

func serveSync(ctx context.Context, s exchange.Server, rounds, ranks, size int) error {
	params := make([]float32, size+2)
	var want []gaspi.Rank
	for r := range gaspi.Rank(ranks - 1) {
		want = append(want, r+1)
	}
	for n := range rounds {
		for i := range params {
			params[i] = value(0, n, i)
		}
		if err := s.Publish(ctx, params); err != nil {
			return err
		}
		var wrong error
		sum := func(sum []float32, from []gaspi.Rank) {
			if d := cmp.Diff(want, from); d != "" || len(sum) != size {
				wrong = fmt.Errorf("round %d: %d elements of (-want +got) %s", n, len(sum), d)
			}
			for i, got := range sum {
				all := float32(0)
				for _, r := range want {
					all += value(r, n, i)
				}
				if got != all && wrong == nil {
					wrong = fmt.Errorf("round %d: element %d is %v, want %v", n, i, got, all)
				}
			}
		}
		if err := errors.Join(s.Sum(ctx, sum), wrong); err != nil {
			return err
		}
	}
	return nil
}

func workSync(ctx context.Context, p *gaspi.Proc, w exchange.Worker, rounds, size int) error {
	mine := make([]float32, size)
	for n := 0; ; n++ {
		var wrong error
		more, err := w.Fetch(ctx, func(params []float32) {
			for i, got := range params {
				if want := value(0, n, i); (got != want || len(params) != size+2) && wrong == nil {
					wrong = fmt.Errorf("round %d: parameter %d of %d is %v, want %v", n, i, len(params), got, want)
				}
			}
		})
		if err = errors.Join(err, wrong); err != nil {
			return err
		}
		if !more {
			if n != rounds {
				return fmt.Errorf("%d rounds, want %d", n, rounds)
			}
			return nil
		}
		for i := range mine {
			mine[i] = value(p.Rank(), n, i)
		}
		if err := w.Contribute(ctx, mine); err != nil {
			return err
		}
	}
}

// TestFirst holds some workers back: sums are of the others, and each gets new parameters
// when it was in one, and not before.
func TestFirst(t *testing.T) {
	const ranks, size = 5, 5000
	for _, way := range ways {
		for _, each := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/each %v", way, each), func(t *testing.T) {
				gate := make(chan struct{})
				slow := func(r gaspi.Rank) bool { return r == 1 || r == 4 }
				var got [][]gaspi.Rank
				err := play{
					ranks: ranks,
					cfg:   exchange.Config{Way: way, Params: size, Contribution: size, Quorum: func(int) int { return 2 }, KeepGoing: true},
					server: func(ctx context.Context, s exchange.Server) error {
						for n := range 10 {
							if err := s.Publish(ctx, slices.Repeat([]float32{float32(n)}, size)); err != nil {
								return err
							}
							if n == 5 {
								close(gate)
							}
							from, err := takeMasks(ctx, s, each)
							if err != nil {
								return err
							}
							got = append(got, from)
						}
						return nil
					},
					worker: func(ctx context.Context, p *gaspi.Proc, w exchange.Worker) error {
						return workFirst(ctx, p, w, gate, slow(p.Rank()), size)
					},
				}.run(t)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(slices.Repeat([][]gaspi.Rank{{2, 3}}, 5), got[:5]); d != "" {
					t.Errorf("the first sums are of (-want +got):\n%s", d)
				}
				for n, from := range got {
					if len(from) != 2 {
						t.Errorf("sum %d is of %v, want two", n, from)
					}
				}
			})
		}
	}
}

// takeMasks takes contributions whose every element is the bit of its worker, and so tells
// whose they are.
func takeMasks(ctx context.Context, s exchange.Server, each bool) ([]gaspi.Rank, error) {
	var (
		from  []gaspi.Rank
		wrong error
	)
	look := func(sum []float32, of []gaspi.Rank) {
		want := 0
		for _, r := range of {
			want += 1 << r
		}
		for i, x := range sum {
			if x != float32(want) {
				wrong = fmt.Errorf("element %d from %v is %v, want %d", i, of, x, want)
			}
		}
		from = append(from, of...)
	}
	var err error
	if each {
		err = s.Each(ctx, func(x []float32, r gaspi.Rank) { look(x, []gaspi.Rank{r}) })
	} else {
		err = s.Sum(ctx, look)
	}
	slices.Sort(from)
	return from, errors.Join(err, wrong)
}

// workFirst contributes its bit, but a slow one waits at the gate before its first.
func workFirst(ctx context.Context, p *gaspi.Proc, w exchange.Worker, gate chan struct{}, slow bool, size int) error {
	last := float32(-1)
	for {
		var wrong error
		more, err := w.Fetch(ctx, func(params []float32) {
			if params[0] <= last || params[0] != params[size-1] {
				wrong = fmt.Errorf("parameters %v to %v after %v", params[0], params[size-1], last)
			}
			last = params[0]
		})
		if err = errors.Join(err, wrong); err != nil || !more {
			return err
		}
		if slow {
			select {
			case <-gate:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := w.Contribute(ctx, slices.Repeat([]float32{float32(int(1) << p.Rank())}, size)); err != nil {
			return err
		}
	}
}

var errBroken = errors.New("broken on purpose")

// A gate opens when as many have arrived as it was made for.
type gate struct {
	missing atomic.Int32
	open    chan struct{}
}

func newGate(n int) *gate {
	g := &gate{open: make(chan struct{})}
	g.missing.Store(int32(n))
	return g
}

func (g *gate) arrive() {
	if g.missing.Add(-1) == 0 {
		close(g.open)
	}
}

// TestDeath lets workers die in the middle: with KeepGoing the others go on, without it
// all end, and the error names who died.
func TestDeath(t *testing.T) {
	const ranks, size, rounds = 5, 5000, 30
	for _, way := range ways {
		for _, keep := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v/keep going %v", way, keep), func(t *testing.T) {
				var (
					mu    sync.Mutex
					left  []gaspi.Rank
					begun = newGate(ranks - 1) // none may die while others still make their segments
				)
				half := func(workers int) int { return max(1, workers/2) }
				err := play{
					ranks: ranks, cfg: exchange.Config{Way: way, Params: size, Contribution: size, Quorum: half, KeepGoing: keep},
					server: func(ctx context.Context, s exchange.Server) error {
						// Until both have been heard often enough to die, however slow they are;
						// if one death ends all, until then.
						for n := 0; n < rounds || !keep || len(s.Workers()) > 2; n++ {
							if err := s.Publish(ctx, slices.Repeat([]float32{float32(n)}, size)); err != nil {
								return err
							}
							if _, err := takeMasks(ctx, s, n%2 == 0); err != nil {
								return err
							}
						}
						left = s.Workers()
						return nil
					},
					worker: func(ctx context.Context, p *gaspi.Proc, w exchange.Worker) error {
						begun.arrive()
						if r := p.Rank(); r == 2 || r == 3 {
							select {
							case <-begun.open:
							case <-ctx.Done():
							}
							return dieAfter(ctx, p, w, int(r), size)
						}
						err := workFirst(ctx, p, w, nil, false, size)
						if keep || err == nil {
							return err
						}
						mu.Lock()
						defer mu.Unlock()
						left = append(left, p.Rank())
						return errors.Join(w.Close(ctx), err)
					},
				}.run(t)
				if !errors.Is(err, errBroken) || keep == errors.Is(err, gaspi.ErrRankDead) {
					t.Errorf("the job ends with %v", err)
				}
				slices.Sort(left)
				if d := cmp.Diff([]gaspi.Rank{1, 4}, left); d != "" {
					t.Errorf("who was left (-want +got):\n%s", d)
				}
			})
		}
	}
}

// dieAfter contributes so often and dies, with or without parameters to work on.
func dieAfter(ctx context.Context, p *gaspi.Proc, w exchange.Worker, times, size int) error {
	for range times {
		if _, err := w.Fetch(ctx, func([]float32) {}); err != nil {
			return err
		}
		if err := w.Contribute(ctx, slices.Repeat([]float32{float32(int(1) << p.Rank())}, size)); err != nil {
			return err
		}
	}
	return errBroken
}

// TestServeAlone says that there must be somebody to work.
func TestServeAlone(t *testing.T) {
	err := gaspi.Local(t.Context(), 1, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		_, err := exchange.Serve(ctx, p, exchange.Config{Params: 1, Contribution: 1, Quorum: func(n int) int { return n }})
		return err
	})
	if err == nil {
		t.Error("a job of one rank can be served")
	}
}
