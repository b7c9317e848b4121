package faults

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/faulty"
)

// TestStoreEndsWithItsRank has ranks end that have not closed a store: nothing of it goes
// on, or else the bubble would not end.
func TestStoreEndsWithItsRank(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := transport.WithNetwork(t.Context(), faulty.New(faulty.Config{Hosts: []int{0, 1, 2}, Latency: latency, Silence: silence}))
		err := gaspi.Local(ctx, 3, gaspi.Config{Spin: -1, Yield: -1}, func(ctx context.Context, p *gaspi.Proc) error {
			if err := meet(ctx, &member{p: p, group: p.World()}); err != nil {
				return err
			}
			s, err := hoplite.Open(ctx, p.World(), storeConfig())
			if err != nil {
				return err
			}
			if err := hoplite.Put(ctx, s, object(p.Rank(), 0), make([]int64, 1000)); err != nil {
				return err
			}
			return p.Barrier(ctx, p.World())
		})
		if err != nil {
			t.Error(err)
		}
	})
}
