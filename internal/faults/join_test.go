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

// TestJoin has a rank killed at a random moment while ranks join, or come very late. Either
// all others join, or all have an error that names it, at once when its end is announced.
func TestJoin(t *testing.T) {
	seed := seedOf(t)
	for i := range uint64(200) {
		draw := rand.New(rand.NewPCG(seed+i, 4))
		ranks := 2 + draw.IntN(8)
		victim := gaspi.Rank(draw.IntN(ranks))
		cfg := faulty.Config{Hosts: make([]int, ranks), Silence: silence, Verdict: verdictOf, Seed: seed + i}
		for r := range ranks {
			cfg.Hosts[r] = r % (1 + draw.IntN(3))
			cfg.Arrive = append(cfg.Arrive, time.Duration(draw.Int64N(int64(moment))))
		}
		kill := draw.IntN(3) > 0
		if !kill {
			cfg.Arrive[victim] = lateness
		}
		when := time.Duration(draw.Int64N(int64(2 * moment)))
		if kill { // what is on its way when the last ranks come and go again
			cfg.Latency = time.Duration(draw.IntN(3)) * 5 * time.Microsecond
		}
		synctest.Test(t, func(t *testing.T) {
			begin, joined := time.Now(), atomic.Int32{}
			net := faulty.New(cfg)
			if kill {
				time.AfterFunc(when, func() { net.Kill(victim) })
			}
			err := gaspi.Local(transport.WithNetwork(t.Context(), net), ranks, gaspi.Config{PassiveMax: 64, Groups: 4, KeepGoing: true, Spin: -1, Yield: -1},
				func(ctx context.Context, p *gaspi.Proc) error {
					joined.Add(1)
					if kill && p.Rank() == victim {
						<-ctx.Done()
					}
					return ctx.Err()
				})
			took := time.Since(begin)
			if wrong := judgeJoin(err, ranks, int(joined.Load()), victim, kill); wrong != nil {
				t.Errorf("GASPI_TEST_SEED=%d: %d ranks, rank %d, killed %v after %v: %v", seed+i, ranks, victim, kill, when, wrong)
			}
			if last := max(when+verdictOf, moment) + 4*cfg.Latency; kill && took > last || !kill && took != lateness {
				t.Errorf("GASPI_TEST_SEED=%d: the job took %v", seed+i, took)
			}
		})
	}
}

// judgeJoin returns what is wrong with the errors of a job of which some ranks have joined.
func judgeJoin(err error, ranks, joined int, victim gaspi.Rank, kill bool) error {
	var errs []error
	if many, is := err.(interface{ Unwrap() []error }); is {
		errs = many.Unwrap()
	}
	if !kill {
		if err != nil || joined != ranks {
			return fmt.Errorf("%d joined: %w", joined, err)
		}
		return nil
	}
	if joined != 0 && joined < ranks-1 {
		return fmt.Errorf("%d of %d ranks joined; expected all or none", joined, ranks-1)
	}
	others := 0
	for _, e := range errs {
		if gone, is := errors.AsType[*gaspi.RankError](e); is && gone.Rank == victim {
			others++
		}
	}
	if want := ranks - 1; joined == 0 && others != want || joined > 0 && others != 0 {
		return fmt.Errorf("%d joined, and %d have an error that names the rank: %w", joined, others, err)
	}
	return nil
}
