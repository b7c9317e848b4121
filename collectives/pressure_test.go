package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// TestScarceArena keeps plans of NewPlan alive and runs them while single calls use
// up the team's notifications and scratch again and again.
func TestScarceArena(t *testing.T) {
	for _, cfg := range []collectives.Config{
		{Slots: 700, Scratch: 64 << 10}, {Slots: 700}, {Scratch: 8 << 10}, {Slots: 2000, Scratch: 1 << 20},
	} {
		t.Run(fmt.Sprintf("%d slots, %d bytes", cfg.Slots, cfg.Scratch), func(t *testing.T) {
			onTeam(t, 3, cfg, func(ctx context.Context, team *collectives.Team) error {
				return scarce(ctx, team)
			})
		})
	}
}

func scarce(ctx context.Context, team *collectives.Team) error {
	me := int64(team.Rank())
	type kept struct {
		buf  []int64
		plan *collectives.Plan
	}
	var plans []kept
	rounds := 200
	if testing.Short() {
		rounds = 60
	}
	for round := range rounds {
		n := 1 + (round*37)%700
		buf := vector(n, func(i int) int64 { return int64(i*round) + me })
		var opts []collectives.Option
		if round%3 == 0 {
			opts = append(opts, collectives.Concurrency(1+round%5))
		}
		h, err := collectives.Start(ctx, team, collectives.AllReduceTask(buf, collectives.Sum, opts...))
		if err != nil {
			return err
		}
		root := round % 3
		other := []int32{int32(me), int32(round)}
		if _, err := collectives.Broadcast(ctx, team, root, other); err != nil {
			return err
		}
		if err := h.Wait(ctx); err != nil {
			return err
		}
		if err := matches(fmt.Sprintf("round %d", round), buf, func(i int) int64 { return int64(3*i*round) + 3 }); err != nil {
			return err
		}
		if err := matches("broadcast", other, func(i int) int32 { return []int32{int32(root), int32(round)}[i] }); err != nil {
			return err
		}
		if round%25 == 3 {
			k := kept{buf: make([]int64, 10+round)}
			if k.plan, err = collectives.PlanAllReduce(ctx, team, k.buf, collectives.Max, collectives.Algorithm("ring")); err != nil {
				return err
			}
			if plans = append(plans, k); len(plans) > 4 {
				if err := plans[0].plan.Close(); err != nil {
					return err
				}
				plans = plans[1:]
			}
		}
		for _, k := range plans {
			for i := range k.buf {
				k.buf[i] = int64(i+round)*(me+1) - me
			}
			if err := k.plan.Run(ctx); err != nil {
				return err
			}
			if err := matches(fmt.Sprintf("plan in round %d", round), k.buf, func(i int) int64 {
				return max(int64(i+round), int64(i+round)*2-1, int64(i+round)*3-2)
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestJuggleInScarceArena has many operations of all kinds under way meanwhile.
func TestJuggleInScarceArena(t *testing.T) {
	operations := 1500
	if testing.Short() {
		operations = 200
	}
	seed := seedOf(t)
	all := mixture(seed, 4)
	reports := &reporter{log: func(err error) { t.Error(err) }}
	ranktest.Local(t, 4, small, func(ctx context.Context, p *gaspi.Proc) error {
		m, err := newMember(ctx, p.World(), collectives.Config{Slots: 3000, Scratch: 256 << 10})
		if err != nil {
			return err
		}
		if err := m.juggle(ctx, seed, all, operations, reports.report); err != nil {
			return err
		}
		return m.close(ctx)
	})
}

// TestNoRoomAtAll says what to raise, and leaves the team usable.
func TestNoRoomAtAll(t *testing.T) {
	onTeam(t, 2, collectives.Config{Slots: 20}, func(ctx context.Context, team *collectives.Team) error {
		buf := make([]int32, 100)
		err := collectives.AllReduce(ctx, team, buf, collectives.Sum, collectives.Algorithm("ring"), collectives.Concurrency(50))
		if !errors.Is(err, gaspi.ErrTooMany) || !strings.Contains(err.Error(), "Config.Slots is 20") {
			return fmt.Errorf("got %v, which does not say what there are too few of", err)
		}
		for {
			if _, err = collectives.PlanAllReduce(ctx, team, buf, collectives.Sum, collectives.Algorithm("ring")); err != nil {
				break
			}
		}
		if !errors.Is(err, gaspi.ErrTooMany) || !strings.Contains(err.Error(), "close plans or raise Config.Slots") {
			return fmt.Errorf("got %v, which does not say what to do", err)
		}
		return nil
	})
}
