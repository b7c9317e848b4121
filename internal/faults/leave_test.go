package faults

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/faulty"
)

// slowTeam runs body on n ranks, each on its own host, with a team, in a network whose
// messages are slower than the time after which a member looks for the reason of its wait.
func slowTeam(t *testing.T, n int, seed uint64, body func(ctx context.Context, p *gaspi.Proc, team *collectives.Team) error) {
	t.Helper()
	cfg := faulty.Config{Hosts: make([]int, n), Latency: time.Second, Silence: time.Hour, Seed: seed}
	for r := range cfg.Hosts {
		cfg.Hosts[r] = r
	}
	net := faulty.New(cfg)
	ctx, cancel := context.WithTimeout(transport.WithNetwork(t.Context(), net), time.Hour)
	defer cancel()
	err := gaspi.Local(ctx, n, gaspi.Config{Spin: -1, Yield: -1, KeepGoing: true}, func(ctx context.Context, p *gaspi.Proc) error {
		team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
		if err != nil {
			return err
		}
		return body(ctx, p, team)
	})
	if err := errors.Join(err, net.Changed()); err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
}

// TestLeavesAfterItsLastCall has members return right after their last call, while others are
// still in it: they need nothing of it any more.
func TestLeavesAfterItsLastCall(t *testing.T) {
	for seed := range uint64(20) {
		for n := 2; n <= 6; n++ {
			synctest.Test(t, func(t *testing.T) {
				slowTeam(t, n, seed, func(ctx context.Context, p *gaspi.Proc, team *collectives.Team) error {
					x := []int64{int64(p.Rank())}
					if err := collectives.AllReduce(ctx, team, x, collectives.Sum); err != nil {
						return err
					}
					if x[0] != int64(n*(n-1)/2) {
						return fmt.Errorf("the sum is %d", x[0])
					}
					_, err := collectives.Broadcast(ctx, team, 0, x)
					return err
				})
			})
		}
	}
}

// ahead is how many broadcasts a member makes at most before it waits for one below it in the tree, which does so for one
// below itself: as many as there are copies of 8,000 bytes in 1 MiB.
const ahead = 128

// TestLeavesBeforeACall has a member return while the others make calls that need it. All of
// these end with its name, also at members that wait for others alone; nobody else leaves
// until all have ended.
func TestLeavesBeforeACall(t *testing.T) {
	calls := []func(ctx context.Context, team *collectives.Team) error{
		func(ctx context.Context, team *collectives.Team) error { return collectives.Barrier(ctx, team) },
		func(ctx context.Context, team *collectives.Team) error {
			return collectives.AllReduce(ctx, team, make([]float64, 1000), collectives.Sum)
		},
		func(ctx context.Context, team *collectives.Team) error {
			_, err := collectives.Broadcast(ctx, team, 1, make([]float64, 1000))
			return err
		},
	}
	for seed := range uint64(12) {
		for n := 2; n <= 7; n++ {
			leaver := gaspi.Rank(seed) % gaspi.Rank(n)
			synctest.Test(t, func(t *testing.T) {
				var ended sync.WaitGroup
				ended.Add(n - 1)
				slowTeam(t, n, seed, func(ctx context.Context, p *gaspi.Proc, team *collectives.Team) error {
					call := calls[seed%uint64(len(calls))]
					for range seed % 3 {
						if err := call(ctx, team); err != nil {
							return err
						}
					}
					if p.Rank() == leaver {
						return collectives.Barrier(ctx, team)
					}
					defer ended.Wait()
					defer ended.Done()
					if err := collectives.Barrier(ctx, team); err != nil {
						return err
					}
					err := call(ctx, team)
					for i := 0; err == nil && i < ahead*n; i++ {
						err = call(ctx, team)
					}
					gone, ok := errors.AsType[*gaspi.RankError](err)
					if !ok || gone.Rank != leaver || !gone.Left {
						return fmt.Errorf("got %v, want an error that says that rank %d has left", err, leaver)
					}
					return nil
				})
			})
		}
	}
}
