package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/faulty"
)

// errDies is what ranks return that die on purpose.
var errDies = errors.New("dies on purpose")

// onHosts runs n ranks on hosts that seed draws, in any order and with any number of ranks each, in a
// network that is slow. The errors of ranks that are errDies are left out.
func onHosts(t *testing.T, n int, seed uint64, main func(ctx context.Context, p *gaspi.Proc) error) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	cfg := faulty.Config{Hosts: make([]int, n), Latency: time.Second, Silence: time.Hour, Seed: seed}
	hosts := 1 + random.IntN(n)
	for r := range cfg.Hosts {
		cfg.Hosts[r] = random.IntN(hosts)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(transport.WithNetwork(t.Context(), faulty.New(cfg)), time.Hour)
		defer cancel()
		err := gaspi.Local(ctx, n, gaspi.Config{Spin: -1, Yield: -1, KeepGoing: true, Segments: 4, Groups: 2, PassiveMax: 64}, main)
		many, _ := err.(interface{ Unwrap() []error })
		if many == nil {
			return
		}
		for _, err := range many.Unwrap() {
			if !errors.Is(err, errDies) {
				t.Errorf("seed %d, hosts %v: %v", seed, cfg.Hosts, err)
			}
		}
	})
}

// TestBarrierOverHosts has barriers of ranks on several hosts, each of which is cut short and gone on with
// at random: nobody leaves one early, and each ends.
func TestBarrierOverHosts(t *testing.T) {
	for seed := range uint64(30) {
		n := 2 + int(seed)%39
		var entered [12]atomic.Int32
		onHosts(t, n, seed, func(ctx context.Context, p *gaspi.Proc) error {
			random := rand.New(rand.NewPCG(seed, uint64(p.Rank())))
			for round := range entered {
				time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond) // sleep: so late a rank enters, by the clock of the bubble
				entered[round].Add(1)
				for err := context.DeadlineExceeded; err != nil; {
					limited, cancel := context.WithTimeout(ctx, time.Duration(random.IntN(900))*time.Millisecond)
					err = p.Barrier(limited, p.World())
					cancel()
					if err != nil && !errors.Is(err, context.DeadlineExceeded) {
						return err
					}
				}
				if got := int(entered[round].Load()); got != n {
					return fmt.Errorf("left barrier %d after %d entries of %d", round, got, n)
				}
			}
			return nil
		})
	}
}

// TestBarrierWithoutARank has a rank leave, or die, while the others are in a barrier. All of these
// end with its name, also those that wait for others alone, and so does the next one; nobody else leaves
// until all have ended. A rank that leaves does so right after the barrier before.
func TestBarrierWithoutARank(t *testing.T) {
	for seed := range uint64(30) {
		n := 2 + int(seed*7)%39
		gone, dies := gaspi.Rank(seed*5)%gaspi.Rank(n), seed%2 == 0
		var warm, ended atomic.Int32
		await := func(count *atomic.Int32, n int) {
			for range 1000 { // no longer, so that a failure ends the test
				if int(count.Load()) < n {
					time.Sleep(time.Second) // sleep: by the clock of the bubble
				}
			}
		}
		onHosts(t, n, seed, func(ctx context.Context, p *gaspi.Proc) error {
			for range seed % 4 {
				if err := p.Barrier(ctx, p.World()); err != nil {
					return fmt.Errorf("before: %w", err)
				}
			}
			warm.Add(1)
			if p.Rank() == gone && dies {
				await(&warm, n)
				return errDies
			}
			if p.Rank() == gone {
				return nil
			}
			defer await(&ended, n-1)
			defer ended.Add(1)
			for range 2 {
				err := p.Barrier(ctx, p.World())
				if rank, is := errors.AsType[*gaspi.RankError](err); !is || rank.Rank != gone || rank.Left == dies {
					return fmt.Errorf("got %v, want an error that names rank %d", err, gone)
				}
			}
			return nil
		})
	}
}
