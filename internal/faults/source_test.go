package faults

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/faulty"
)

// TestNotesAreNotChangedOnTheirWay has three of four members begin one operation after the
// other, and wait for each in vain until their look for the reason, in a network whose
// messages are slower than that. A member tells others of its calls while its earlier notes
// to them are under way: it does not change these.
func TestNotesAreNotChangedOnTheirWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow, begun = 5 * time.Second, 8
		net := faulty.New(faulty.Config{Hosts: []int{0, 1, 2, 3}, Latency: slow, Silence: time.Hour})
		err := gaspi.Local(transport.WithNetwork(t.Context(), net), 4, gaspi.Config{Spin: -1, Yield: -1}, func(ctx context.Context, p *gaspi.Proc) error {
			team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
			if err != nil {
				return err
			}
			if p.Rank() == 3 {
				pause(ctx, begun*slow)
			}
			var handles []*collectives.Handle
			for range begun {
				h, err := collectives.Start(ctx, team, collectives.AllReduceTask([]int64{1}, collectives.Sum))
				if err != nil {
					return err
				}
				handles = append(handles, h)
				brief, cancel := context.WithTimeout(ctx, time.Second)
				err = h.Wait(brief)
				cancel()
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					return err
				}
			}
			for _, h := range handles {
				if err := h.Wait(ctx); err != nil {
					return err
				}
			}
			return p.Barrier(ctx, p.World())
		})
		if err != nil {
			t.Error(err)
		}
		if err := net.Changed(); err != nil {
			t.Error(err)
		}
	})
}
