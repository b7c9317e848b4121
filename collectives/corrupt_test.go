package collectives

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives/internal/codec"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// TestCorruptForms has a form at rank 0 be none when it is to be decoded. Rank 0 says so, and its
// team is unusable until Reset.
func TestCorruptForms(t *testing.T) {
	for _, c := range []struct {
		name    string
		corrupt func(form []byte)
	}{
		{"no header", func(form []byte) { clear(form) }},
		{"of another vector", func(form []byte) { form[8]++ }},
		{"unknown scheme", func(form []byte) { form[4] = 99 }},
		{"first block", func(form []byte) {
			for i := range 8 {
				form[codec.HeaderSize+i] ^= 0xff
			}
		}},
	} {
		for _, op := range []schedule.Operation{schedule.AllReduce, schedule.Broadcast} {
			t.Run(fmt.Sprintf("%v/%s", op, c.name), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				waiting, giveUp := context.WithCancel(ctx) // in which rank 1 waits for what does not come
				defer giveUp()
				var end [2]error
				err := gaspi.Local(ctx, 2, gaspi.Config{Segments: 64, Groups: 4, Notifications: 64, PassiveMax: 64, KeepGoing: true}, func(ctx context.Context, p *gaspi.Proc) error {
					team, err := NewTeam(ctx, p.World(), Config{})
					if err != nil {
						return err
					}
					buf := make([]float64, 5000)
					task := AllReduceTask(buf, Sum, Compress(Lossless()))
					if op == schedule.Broadcast {
						task = BroadcastTask(1, buf, Compress(Lossless()))
					}
					plan, err := NewPlan(ctx, team, task)
					if err != nil {
						return err
					}
					if err := plan.Run(ctx); err != nil {
						return err
					}
					if p.Rank() == 0 {
						team.member.BeforeDecode = func(form []byte) {
							team.member.BeforeDecode = nil
							c.corrupt(form)
						}
						end[0], end[1] = plan.Run(ctx), plan.Run(ctx)
						giveUp()
					} else if err = plan.Run(waiting); errors.Is(err, context.Canceled) {
						err = nil
					}
					if err := errors.Join(err, team.Reset(ctx)); err != nil {
						return err
					}
					if err := plan.Run(ctx); err != nil {
						return fmt.Errorf("after Reset: %w", err)
					}
					if err := p.Barrier(ctx, p.World()); err != nil {
						return err
					}
					return team.Close()
				})
				if err != nil {
					t.Fatal(err)
				}
				for i, err := range end {
					if !errors.Is(err, codec.ErrCorrupt) {
						t.Errorf("rank 0, run %d after it: %v", i, err)
					}
				}
			})
		}
	}
}
