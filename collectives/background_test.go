package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// A started call is an operation that was started, and how its result is checked.
type startedCall struct {
	handle *collectives.Handle
	check  func() error
}

// startAll starts operations of several shapes, more than are under way at a time, with plans among
// them, on all members alike.
func startAll(ctx context.Context, team *collectives.Team) ([]startedCall, error) {
	var all []startedCall
	size, me := team.Size(), team.Rank()
	sum := int64(size * (size - 1) / 2)
	for k := range 20 {
		n := 1 + 700*k
		buf := vector(n, func(i int) int64 { return int64(me + i) })
		task := collectives.AllReduceTask(buf, collectives.Sum)
		if k%3 == 0 {
			task = collectives.AllReduceTask(buf, collectives.Sum, collectives.Algorithm("ring"), collectives.Concurrency(4))
		}
		var (
			h   *collectives.Handle
			err error
		)
		if k%5 == 2 {
			plan, perr := collectives.NewPlan(ctx, team, task)
			if perr != nil {
				return nil, perr
			}
			h, err = plan.Start()
		} else {
			h, err = collectives.Start(ctx, team, task)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, startedCall{h, func() error {
			return matches(fmt.Sprintf("sum %d", k), buf, func(i int) int64 { return sum + int64(size*i) })
		}})
	}
	blocks, src := make([]int32, 3000*size), vector(3000, func(i int) int32 { return int32(i + me) })
	h, err := collectives.Start(ctx, team, collectives.AllGatherTask(team, blocks, src))
	if err != nil {
		return nil, err
	}
	return append(all, startedCall{h, func() error {
		return matches("blocks", blocks, func(i int) int32 { return int32(i%3000 + i/3000) })
	}}), nil
}

// endBySelf waits for operations without a call of the package.
func endBySelf(ctx context.Context, all []startedCall) error {
	for i, c := range all {
		select {
		case <-c.handle.Done():
		case <-ctx.Done():
			return fmt.Errorf("operation %d of %d does not go on by itself: %w", i, len(all), ctx.Err())
		}
		if err := c.check(); err != nil {
			return err
		}
	}
	for _, c := range all {
		if done, err := c.handle.Test(); !done || err != nil {
			return fmt.Errorf("Test after Done: %v, %v", done, err)
		}
		if err := c.handle.Wait(ctx); err != nil {
			return err
		}
		<-c.handle.Done() // also of who asks late
	}
	return nil
}

// playAlone starts operations, twice, on two teams, and calls nothing until they have ended.
func playAlone(ctx context.Context, p *gaspi.Proc) error {
	var teams [2]*collectives.Team
	for i := range teams {
		var err error
		if teams[i], err = collectives.NewTeam(ctx, p.World(), collectives.Config{}); err != nil {
			return err
		}
	}
	for range 2 {
		var all []startedCall
		for _, team := range teams {
			more, err := startAll(ctx, team)
			if err != nil {
				return err
			}
			all = append(all, more...)
		}
		if err := endBySelf(ctx, all); err != nil {
			return err
		}
	}
	for _, team := range teams {
		if err := collectives.Barrier(ctx, team); err != nil {
			return err
		}
	}
	if err := p.Barrier(ctx, p.World()); err != nil {
		return err
	}
	return errors.Join(teams[0].Close(), teams[1].Close())
}

// TestStartedOperationsEndByThemselves starts operations and calls nothing until their channels are
// closed, on all members.
func TestStartedOperationsEndByThemselves(t *testing.T) {
	for name, cfg := range map[string]gaspi.Config{
		"loopback": {}, "tcp": {Transport: "tcp"}, "emulated": {Emulate: "latency=20us,bandwidth=400MB/s"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, ranks := range []int{1, 3, 4} {
				job := small
				job.Transport, job.Emulate, job.Groups = cfg.Transport, cfg.Emulate, 8
				ranktest.Local(t, ranks, job, playAlone)
			}
		})
	}
	for _, transport := range []string{"shm", "tcp"} {
		t.Run("processes over "+transport, func(t *testing.T) {
			ranktest.Succeeds(t, launcher.Config{Ranks: 3, Transport: transport}, "alone")
		})
	}
}

// TestCallerMakesProgressAlone has operations stand still by the clock of a bubble while nobody calls,
// and end once all wait. With another Progress they end meanwhile.
func TestCallerMakesProgressAlone(t *testing.T) {
	for _, mode := range []collectives.Progress{collectives.Caller, collectives.Auto, collectives.Background} {
		t.Run(mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := gaspi.Local(t.Context(), 3, small, func(ctx context.Context, p *gaspi.Proc) error {
					team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Progress: mode})
					if err != nil {
						return err
					}
					buf := []int64{1, 2, 3}
					h, err := collectives.Start(ctx, team, collectives.AllReduceTask(buf, collectives.Sum))
					if err != nil {
						return err
					}
					letOthersSleep()
					select {
					case <-h.Done():
						if mode == collectives.Caller {
							return errors.New("it ended though nobody called")
						}
					default:
						if mode != collectives.Caller {
							return fmt.Errorf("it did not end though %v passed", longSleep)
						}
					}
					if err := h.Wait(ctx); err != nil {
						return err
					}
					<-h.Done()
					return matches("sum", buf, func(i int) int64 { return int64(3 * (i + 1)) })
				})
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// longSleep is longer than all other sleeps of a bubble, some of which end and begin again until it
// is over.
const longSleep = 5 * time.Minute

// letOthersSleep returns when all other goroutines of a bubble sleep or have ended.
func letOthersSleep() { time.Sleep(longSleep) } // sleep: by the clock of the bubble

// serving returns how many goroutines of the process make progress for teams of this package.
func serving() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "progress.(*Engine).serve(")
}

// TestNoGoroutineIsLeft counts the goroutines that make progress: one for each team while operations
// are under way, and none once they have ended, however they ended.
func TestNoGoroutineIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ranks = 2
		err := gaspi.Local(t.Context(), ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
			team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
			if err != nil {
				return err
			}
			start := func() (*collectives.Handle, error) {
				return collectives.Start(ctx, team, collectives.AllReduceTask(make([]int64, 10), collectives.Sum))
			}
			var h *collectives.Handle
			if p.Rank() == 0 {
				if h, err = start(); err != nil {
					return err
				}
			}
			letOthersSleep() // both ranks sleep, and rank 0 waits for rank 1
			if n := serving(); n != 1 {
				return fmt.Errorf("%d goroutines while an operation of one rank is under way, want 1", n)
			}
			letOthersSleep()
			if p.Rank() == 1 {
				if h, err = start(); err != nil {
					return err
				}
			}
			<-h.Done()
			letOthersSleep()
			if n := serving(); n != 0 {
				return fmt.Errorf("%d goroutines after it has ended", n)
			}
			letOthersSleep()
			if h, err = start(); err != nil {
				return err
			}
			if err := h.Wait(ctx); err != nil {
				return err
			}
			letOthersSleep()
			if n := serving(); n != 0 {
				return fmt.Errorf("%d goroutines after Wait", n)
			}
			letOthersSleep()
			if p.Rank() == 0 {
				if h, err = start(); err != nil {
					return err
				}
				if err := team.Close(); err != nil {
					return err
				}
				<-h.Done()
				if err := h.Wait(ctx); !errors.Is(err, gaspi.ErrClosed) {
					return fmt.Errorf("Wait after Close: %v, want ErrClosed", err)
				}
			}
			letOthersSleep()
			if n := serving(); n != 0 {
				return fmt.Errorf("%d goroutines after Close", n)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestBlockingCallsBesideStartedOnes makes calls of all kinds while operations are under way in the
// background, with pauses of each rank's own.
func TestBlockingCallsBesideStartedOnes(t *testing.T) {
	const ranks = 3
	seed := seedOf(t)
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	for _, transport := range []string{"loopback", "tcp"} {
		job := small
		job.Transport = transport
		onTeamOf(t, job, ranks, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
			common, own := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, uint64(2+team.Rank())))
			planned := make([]int64, 50)
			plan, err := collectives.PlanAllReduce(ctx, team, planned, collectives.Sum)
			if err != nil {
				return err
			}
			var air []startedCall
			for round := range rounds {
				x := vector(1+common.IntN(5000), func(i int) int64 { return int64(round + i + team.Rank()) })
				check := func() error {
					return matches(fmt.Sprintf("round %d", round), x, func(i int) int64 { return int64(ranks*(round+i) + 3) })
				}
				switch common.IntN(6) {
				case 0, 1, 2:
					h, err := collectives.Start(ctx, team, collectives.AllReduceTask(x, collectives.Sum))
					if err != nil {
						return err
					}
					air = append(air, startedCall{h, check})
				case 3:
					if err := collectives.AllReduce(ctx, team, x, collectives.Sum); err != nil {
						return err
					}
					if err := check(); err != nil {
						return err
					}
				case 4:
					copy(planned, x)
					clear(planned[min(len(x), len(planned)):])
					if err := plan.Run(ctx); err != nil {
						return err
					}
				case 5:
					if err := collectives.Barrier(ctx, team); err != nil {
						return err
					}
				}
				switch own.IntN(4) {
				case 0:
					time.Sleep(time.Duration(own.IntN(200)) * time.Microsecond) // sleep: what is under way goes on
				case 1:
					if len(air) > 0 {
						if _, err := air[own.IntN(len(air))].handle.Test(); err != nil {
							return err
						}
					}
				}
				for len(air) > 12 {
					c := air[0]
					if air = air[1:]; own.IntN(2) == 0 {
						if err := await(ctx, c.handle.Done()); err != nil {
							return err
						}
					} else if err := c.handle.Wait(ctx); err != nil {
						return err
					}
					if err := c.check(); err != nil {
						return err
					}
				}
			}
			return endBySelf(ctx, air)
		})
	}
}

// TestStartedRunsAllocateNothing starts plans and waits for them again and again, at once or when they
// have ended in the background.
func TestStartedRunsAllocateNothing(t *testing.T) {
	const runs = 100
	onTeam(t, 3, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		collectives.SetPatience(team, time.Hour)
		plan, err := collectives.PlanAllReduce(ctx, team, make([]float64, 1000), collectives.Sum)
		if err != nil {
			return err
		}
		for pause := range 2 {
			run := func() error {
				h, err := plan.Start()
				if err != nil {
					return err
				}
				for range pause {
					time.Sleep(time.Millisecond) // sleep: the goroutine goes on meanwhile, in most runs
				}
				return h.Wait(ctx)
			}
			for range 10 {
				if err := run(); err != nil {
					return err
				}
			}
			n, err := allocations(ctx, team.Group().Proc(), runs, run)
			if err != nil {
				return err
			}
			if n > 0 {
				t.Errorf("%v allocations in a run, pause %d ms", n, pause)
			}
		}
		return nil
	})
}

// TestProgressNeedsNoClock has operations go on by themselves, beside calls, while the clock of a bubble
// stands still: it would go on only if all ranks slept. So no post is missed that only an alarm finds.
func TestProgressNeedsNoClock(t *testing.T) {
	times := 5
	if testing.Short() {
		times = 1
	}
	for range times {
		synctest.Test(t, func(t *testing.T) {
			job := small
			job.Groups = 8
			began := time.Now()
			if err := gaspi.Local(t.Context(), 4, job, playAlone); err != nil {
				t.Error(err)
			}
			if spent := time.Since(began); spent != 0 {
				t.Errorf("the ranks slept for %v", spent)
			}
		})
	}
}
