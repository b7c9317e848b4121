package collectives_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/collectives/internal/oracle"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// envLong has tests use all the time and memory that they are worth.
const envLong = "GASPI_TEST_LONG"

// TestCollLarge is coll_large: one buffer of more than 2 GiB in one call, where
// GASPI_TEST_LONG is set, and otherwise of 16 MiB.
func TestCollLarge(t *testing.T) {
	n := 16<<20 + 17
	switch {
	case testing.Short():
		n = 1<<20 + 17
	case os.Getenv(envLong) != "":
		n = 2<<30 + 17
	}
	cfg := small
	cfg.Spin, cfg.Yield = 0, 0
	ranktest.Local(t, 2, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
		if err != nil {
			return err
		}
		buf, err := collectives.Alloc[uint8](ctx, team, n)
		if err != nil {
			return err
		}
		me := team.Rank()
		for k, call := range []func() error{
			func() error { return collectives.AllReduce(ctx, team, buf, collectives.Sum) },
			func() error {
				_, err := collectives.Broadcast(ctx, team, 1, buf, collectives.Algorithm("binomial"))
				return err
			},
		} {
			start := time.Now()
			for i := range buf {
				buf[i] = large(me, i, k)
			}
			if err := call(); err != nil {
				return err
			}
			for i, got := range buf {
				want := large(0, i, k) + large(1, i, k)
				if k == 1 {
					want = large(1, i, k)
				}
				if got != want {
					return fmt.Errorf("call %d: element %d is %d, want %d", k, i, got, want)
				}
			}
			if me == 0 {
				t.Logf("call %d of %d bytes, with making and comparing them: %v", k, n, time.Since(start))
			}
		}
		if err := collectives.Release(ctx, team, buf); err != nil {
			return err
		}
		return team.Close()
	})
}

// TestShortTransfers runs every algorithm where no single transfer may be longer
// than 4 KiB.
func TestShortTransfers(t *testing.T) {
	const ranks = 3
	cfg := small
	cfg.TransferMax = 4 << 10
	reports := &reporter{log: func(err error) { t.Error(err) }}
	ranktest.Local(t, ranks, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		m, err := newMember(ctx, p.World(), collectives.Config{})
		if err != nil {
			return err
		}
		for _, a := range algorithms.All() {
			if a.Coded { // forms are sent whole
				continue
			}
			x := &instance{seed: 3, ranks: ranks, op: a.Op, algorithm: a.Name, kind: shortKind(a.Op), count: 5003, memory: allocated, vectors: 1, rounds: 2}
			if x.inPlace = x.placed(true); !x.fits() {
				x.inPlace = false
			}
			if err := m.run(ctx, x, reports.report); err != nil {
				return err
			}
		}
		return m.close(ctx)
	})
}

// shortKind is elements of 8 bytes for an operation.
func shortKind(op schedule.Operation) kind {
	if op.Reduces() {
		return builtin(oracle.Float64s(collectives.Sum), collectives.Sum)
	}
	return moved(oracle.Moved(func(h uint64) float64 { return float64(h >> 12) }))
}

// large is what rank r has in byte i.
func large(r, i, call int) uint8 { return uint8(i*(2*r+1) + i>>8*5 + i>>27*(3+r) + call) }
