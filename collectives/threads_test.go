package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// Teams of the world, made one after the other, are used in a goroutine each: vectors of
// Alloc, and calls whose plans make the arena grow, beside barriers of the world.
func TestGASPIConcurrentNewTeamOfOneGroup(t *testing.T) {
	const teams = 4
	for _, transport := range []string{"loopback", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			cfg := small
			cfg.Transport, cfg.Groups = transport, 16
			ranktest.Local(t, 3, cfg, func(ctx context.Context, p *gaspi.Proc) error {
				var made [teams]*collectives.Team
				for i := range made {
					team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Scratch: 64 << 10})
					if err != nil {
						return err
					}
					made[i] = team
				}
				errs := make([]error, teams+1)
				var all sync.WaitGroup
				for i, team := range made {
					all.Go(func() { errs[i] = useTeam(ctx, team, int64(i)) })
				}
				all.Go(func() {
					for range 50 {
						if err := p.Barrier(ctx, p.World()); err != nil {
							errs[teams] = err
							return
						}
					}
				})
				all.Wait()
				return errors.Join(errs...)
			})
		})
	}
}

func useTeam(ctx context.Context, team *collectives.Team, number int64) error {
	for round := range 30 {
		buf, err := collectives.Alloc[int64](ctx, team, 100+round)
		if err != nil {
			return fmt.Errorf("team %d, round %d: %w", number, round, err)
		}
		for _, xs := range [][]int64{buf, make([]int64, 1<<(round%14))} {
			for i := range xs {
				xs[i] = number + 1
			}
			if err := collectives.AllReduce(ctx, team, xs, collectives.Sum); err != nil {
				return fmt.Errorf("team %d, round %d: %w", number, round, err)
			}
			for _, x := range xs {
				if x != int64(team.Size())*(number+1) {
					return fmt.Errorf("team %d, round %d: got %d", number, round, x)
				}
			}
		}
		if err := collectives.Release(ctx, team, buf); err != nil {
			return fmt.Errorf("team %d, round %d: %w", number, round, err)
		}
	}
	return nil
}

// While a goroutine is in a call of a team, every call of another one is refused and has no
// effect: the first, and what comes after it, goes on as if nothing had happened.
func TestGASPIConcurrentTeamRefusesASecondGoroutine(t *testing.T) {
	cfg := small
	synctest.Test(t, func(t *testing.T) {
		err := gaspi.Local(t.Context(), 2, cfg, func(ctx context.Context, p *gaspi.Proc) error {
			team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
			if err != nil {
				return err
			}
			buf, err := collectives.Alloc[int64](ctx, team, 8)
			if err != nil {
				return err
			}
			plan, err := collectives.PlanAllReduce(ctx, team, buf, collectives.Sum)
			if err != nil {
				return err
			}
			seg, err := p.CreateSegment(ctx, 0, 64)
			if err != nil {
				return err
			}
			for range 3 { // the second time, and the third, it is a call like the last
				if p.Rank() == 1 {
					pause(ctx)
				} else {
					inside := make(chan error, 1)
					go func() { inside <- collectives.AllReduce(ctx, team, buf, collectives.Sum) }()
					synctest.Wait() // both ranks sleep
					if err := refusals(ctx, team, plan, buf, seg); err != nil {
						return err
					}
					if err := <-inside; err != nil {
						return err
					}
				}
				if p.Rank() == 1 {
					if err := collectives.AllReduce(ctx, team, buf, collectives.Sum); err != nil {
						return err
					}
				}
				if err := plan.Run(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// pause returns when all others sleep.
func pause(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	<-limited.Done()
}

// refusals makes every call of a team and returns an error unless each is refused.
func refusals(ctx context.Context, team *collectives.Team, plan *collectives.Plan, buf []int64, seg *gaspi.Segment) error {
	second := func(_ any, err error) error { return err }
	task := collectives.AllReduceTask(buf, collectives.Sum)
	for name, call := range map[string]func() error{
		"allreduce": func() error { return collectives.AllReduce(ctx, team, buf, collectives.Sum) },
		"barrier":   func() error { return collectives.Barrier(ctx, team) },
		"reduce":    func() error { return second(collectives.Reduce(ctx, team, 0, buf, collectives.Sum)) },
		"broadcast": func() error { return second(collectives.Broadcast(ctx, team, 0, buf)) },
		"alltoall":  func() error { return collectives.AllToAll(ctx, team, buf, buf) },
		"alltoallv": func() error {
			return collectives.AllToAllV(ctx, team, buf[:2], []int{1, 1}, buf[2:4], []int{1, 1})
		},
		"exchange":   func() error { return collectives.Exchange(ctx, team, buf[:1], buf[1:2], 1) },
		"do":         func() error { return collectives.Do(ctx, team, task) },
		"start":      func() error { return second(collectives.Start(ctx, team, task)) },
		"new plan":   func() error { return second(collectives.NewPlan(ctx, team, task)) },
		"explain":    func() error { return second(collectives.Explain(team, task)) },
		"plan start": func() error { return second(plan.Start()) },
		"plan run":   func() error { return plan.Run(ctx) },
		"plan close": plan.Close,
		"alloc":      func() error { return second(collectives.Alloc[int64](ctx, team, 1)) },
		"release":    func() error { return collectives.Release(ctx, team, buf) },
		"use":        func() error { return team.Use(seg) },
		"reset":      func() error { return team.Reset(ctx) },
		"close":      team.Close,
	} {
		if err := call(); !errors.Is(err, gaspi.ErrInUse) || !strings.Contains(err.Error(), "another goroutine is in a call of this team; make a team for each goroutine") {
			return fmt.Errorf("%s from a second goroutine: %v, want ErrInUse and what to do", name, err)
		}
	}
	return nil
}

// A handle is for one goroutine at a time too.
func TestSecondGoroutineAtAHandleIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := gaspi.Local(t.Context(), 2, small, func(ctx context.Context, p *gaspi.Proc) error {
			team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
			if err != nil {
				return err
			}
			if p.Rank() == 1 {
				pause(ctx)
			}
			x := []int64{1}
			h, err := collectives.Start(ctx, team, collectives.AllReduceTask(x, collectives.Sum))
			if err != nil {
				return err
			}
			if p.Rank() == 1 {
				return h.Wait(ctx)
			}
			inside := make(chan error, 1)
			go func() { inside <- h.Wait(ctx) }()
			synctest.Wait()
			if err := h.Wait(ctx); !errors.Is(err, gaspi.ErrInUse) {
				return fmt.Errorf("Wait from a second goroutine: %v, want ErrInUse", err)
			}
			if done, err := h.Test(); done || !errors.Is(err, gaspi.ErrInUse) {
				return fmt.Errorf("Test from a second goroutine: %v, %v, want ErrInUse", done, err)
			}
			return <-inside
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A team takes one group number until it is closed.
func TestTeamsGiveTheirGroupsBack(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		for range 3 * small.Groups {
			team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
			if err != nil {
				return err
			}
			if err := collectives.Barrier(ctx, team); err != nil {
				return err
			}
			if err := p.Barrier(ctx, p.World()); err != nil {
				return err
			}
			if err := team.Close(); err != nil {
				return err
			}
		}
		if n := len(p.Groups()); n != 1 {
			return fmt.Errorf("%d groups are left, want the world alone", n)
		}
		return nil
	})
}
