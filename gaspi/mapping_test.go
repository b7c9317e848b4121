package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// tryMapped carries out the barrier after m.Number by m, looking a number of times. False if the
// caller is to go on with it by Proc.Barrier.
func tryMapped(m *gaspi.BarrierMapping, looks int) bool {
	number := numberAfter(m.Number)
	for i := range m.To {
		m.To[i].Words[0].Store(number)
		if m.To[i].Wake.Load()&1 != 0 {
			return false // Proc.Barrier signals again, and wakes
		}
	}
	for i := range m.From {
		for ; int32(m.From[i].Load()-number) < 0; looks-- {
			if looks <= 0 {
				return false
			}
			runtime.Gosched()
		}
	}
	m.Number = number
	return true
}

func numberAfter(n uint32) uint32 {
	if n++; n == 0 {
		return 1
	}
	return n
}

// goOn goes on with the barrier after m.Number by Proc.Barrier, which is cut short some times.
func goOn(ctx context.Context, p *gaspi.Proc, g *gaspi.Group, m *gaspi.BarrierMapping, cuts int) error {
	m.Passed(m.Number)
	for ; cuts > 0; cuts-- {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		err := p.Barrier(ended, g)
		if err == nil {
			m.Number = numberAfter(m.Number)
			return nil
		}
		if !errors.Is(err, context.Canceled) {
			return err
		}
	}
	if err := p.Barrier(ctx, g); err != nil {
		return err
	}
	m.Number = numberAfter(m.Number)
	return nil
}

// TestBarrierMapping has ranks meet by mapped signals and by Barrier, in an order that each draws for
// itself, also where the numbers begin again: nobody ends a barrier before all have begun it.
func TestBarrierMapping(t *testing.T) {
	const rounds = 400
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, n := range []int{2, 3, 4} {
		t.Run(fmt.Sprint(n, " ranks"), func(t *testing.T) {
			begun := make([]atomic.Int64, n)
			var mapped atomic.Int64
			err := gaspi.Local(t.Context(), n, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
				g, random := p.World(), rand.New(rand.NewPCG(seed, uint64(p.Rank())))
				if _, ok := g.BarrierMapping(); ok {
					return fmt.Errorf("the signals are mapped before the first barrier")
				}
				if err := p.Barrier(ctx, g); err != nil {
					return err
				}
				m, ok := g.BarrierMapping()
				if !ok || len(m.To) != n-1 || len(m.Ranks) != n-1 || len(m.From) != n-1 {
					return fmt.Errorf("%v, signals to %v and from %d", ok, m.Ranks, len(m.From))
				}
				for round := range int64(rounds) {
					switch round { // a signal of the barrier before is less than 2^31 behind
					case rounds / 3:
						m.Number = 1<<31 - 20
					case rounds / 2:
						m.Number = 1<<32 - 40
					}
					begun[p.Rank()].Store(round + 1)
					if random.IntN(4) > 0 && tryMapped(&m, random.IntN(20)) {
						mapped.Add(1)
					} else if err := goOn(ctx, p, g, &m, random.IntN(4)); err != nil {
						return err
					}
					for r := range begun {
						if have := begun[r].Load(); have < round+1 {
							return fmt.Errorf("rank %d ended round %d, and rank %d has begun %d", p.Rank(), round, r, have)
						}
					}
				}
				return goOn(ctx, p, g, &m, 0)
			})
			if err != nil {
				t.Error(err)
			}
			if mapped.Load() == 0 {
				t.Error("no barrier ended by mapped signals alone")
			}
		})
	}
}

// TestBarrierMappingOfATree has the leaves of a tree meet by mapped signals, and the others by Barrier.
func TestBarrierMappingOfATree(t *testing.T) {
	const many, rounds = 20, 50
	var begun [many]atomic.Int64
	var leaves atomic.Int64
	err := gaspi.Local(t.Context(), many, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		g := p.World()
		if err := p.Barrier(ctx, g); err != nil {
			return err
		}
		m, leaf := g.BarrierMapping()
		if leaf {
			leaves.Add(1)
		}
		for round := range int64(rounds) {
			begun[p.Rank()].Store(round + 1)
			var err error
			switch {
			case leaf && tryMapped(&m, 10):
			case leaf:
				err = goOn(ctx, p, g, &m, 0)
			default:
				err = p.Barrier(ctx, g)
			}
			if err != nil {
				return err
			}
			for r := range begun {
				if have := begun[r].Load(); have < round+1 {
					return fmt.Errorf("rank %d ended round %d, and rank %d has begun %d", p.Rank(), round, r, have)
				}
			}
		}
		if leaf {
			return goOn(ctx, p, g, &m, 0)
		}
		return p.Barrier(ctx, g)
	})
	if err != nil {
		t.Error(err)
	}
	if n := leaves.Load(); n == 0 || n == many {
		t.Errorf("%d of %d ranks are leaves", n, many)
	}
}

// TestBarrierMappingBehindOthers has all ranks but one end a barrier by mapped signals and leave the job, before the last
// one goes on with it by Barrier. In the second barrier it goes on with one that nobody else began.
func TestBarrierMappingBehindOthers(t *testing.T) {
	for _, n := range []int{2, 3, 4} {
		t.Run(fmt.Sprint(n, " ranks"), func(t *testing.T) {
			bubble(t, n, func(ctx context.Context, p *gaspi.Proc) error {
				g := p.World()
				ok(p.Barrier(ctx, g))
				m, mapped := g.BarrierMapping()
				if !mapped {
					return errors.New("the signals of the barrier cannot be addressed")
				}
				for i := range m.To { // who may still sleep has all signals of the barrier before
					m.To[i].Words[0].Store(numberAfter(m.Number))
				}
				if p.Rank() > 0 {
					for i := range m.From {
						for int32(m.From[i].Load()-numberAfter(m.Number)) < 0 {
							runtime.Gosched()
						}
					}
					return nil
				}
				quiet(ctx) // all others have left
				if err := goOn(ctx, p, g, &m, 0); err != nil {
					return fmt.Errorf("a barrier whose signals are all there: %w", err)
				}
				if err := goOn(ctx, p, g, &m, 0); !names(err, 1) {
					return fmt.Errorf("a barrier without the others: %v, want an error about rank 1", err)
				}
				return nil
			})
		})
	}
}
