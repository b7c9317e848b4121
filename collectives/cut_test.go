package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A cutter makes calls with contexts that end early, again and again until they succeed.
// Most have ended before the call, so that each wait for a peer is where one call ends.
type cutter struct {
	rng   *rand.Rand
	early int                         // calls that ended early
	after func(context.Context) error // called after each of them
}

func newCutter(seed uint64, rank int) *cutter {
	return &cutter{rng: rand.New(rand.NewPCG(seed, uint64(rank)))}
}

// through returns the first error of call that is not that of a context.
func (c *cutter) through(ctx context.Context, call func(ctx context.Context) error) error {
	for attempt := 0; ; attempt++ {
		short, cancel := context.WithTimeout(ctx, time.Duration(c.rng.IntN(20<<min(attempt, 16)))*time.Microsecond)
		if c.rng.IntN(4) > 0 && attempt < 200 {
			cancel()
		}
		err := call(short)
		cancel()
		if ctx.Err() != nil || !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		c.early++
		if c.after != nil {
			if err := c.after(ctx); err != nil {
				return err
			}
		}
		runtime.Gosched()
	}
}

// cutSeeds are of the tests of this file: fixed ones, and one that is drawn.
func cutSeeds(t *testing.T) []uint64 {
	drawn := rand.Uint64N(1 << 32)
	t.Logf("drawn seed %d", drawn)
	if testing.Short() {
		return []uint64{1, drawn}
	}
	return []uint64{1, 2, 3, 4, drawn}
}

// TestAllToAllVGoesOn cuts both forms of it, in the exchange of the lengths and after it:
// the same call goes on, any other one is refused, and the result is exact.
func TestAllToAllVGoesOn(t *testing.T) {
	for _, seed := range cutSeeds(t) {
		early := make([]int, 4)
		onTeam(t, len(early), collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
			cut := newCutter(seed, team.Rank())
			cut.after = func(ctx context.Context) error {
				err := collectives.Barrier(ctx, team)
				if !errors.Is(err, gaspi.ErrMismatch) || !strings.Contains(err.Error(), "ended early and is to be finished first") {
					return fmt.Errorf("another call in between: got %w", err)
				}
				return nil
			}
			for round := range 20 {
				if err := lettersCut(ctx, team, cut, seed, round); err != nil {
					return fmt.Errorf("seed %d, round %d: %w", seed, round, err)
				}
			}
			early[team.Rank()] = cut.early
			return nil
		})
		if min(early[0], early[1], early[2], early[3]) == 0 {
			t.Errorf("seed %d: calls that ended early, by rank: %v; want some at each", seed, early)
		}
	}
}

// lettersCut makes one AllToAllV, or a task of it, with lengths that the seed says.
func lettersCut(ctx context.Context, team *collectives.Team, cut *cutter, seed uint64, round int) error {
	size, me := team.Size(), team.Rank()
	length := func(from, to int) int {
		return rand.New(rand.NewPCG(seed, uint64(round*size*size+from*size+to))).IntN(50)
	}
	word := func(from, to, i int) int64 { return int64(((round*size+from)*size+to)*1000 + i) }
	sends, receives := make([]int, size), make([]int, size)
	var src, want []int64
	for peer := range size {
		sends[peer], receives[peer] = length(me, peer), length(peer, me)
		src = append(src, vector(sends[peer], func(i int) int64 { return word(me, peer, i) })...)
		want = append(want, vector(receives[peer], func(i int) int64 { return word(peer, me, i) })...)
	}
	dst := make([]int64, len(want))
	call := func(ctx context.Context) error { return collectives.AllToAllV(ctx, team, dst, receives, src, sends) }
	if round%2 == 1 {
		var task collectives.Task
		if err := cut.through(ctx, func(ctx context.Context) (err error) {
			task, err = collectives.AllToAllVTask(ctx, team, dst, receives, src, sends)
			return err
		}); err != nil {
			return err
		}
		call = func(ctx context.Context) error { return collectives.Do(ctx, team, task) }
	}
	after := cut.after
	if round%2 == 1 {
		cut.after = nil // it may end before it has begun
	}
	err := cut.through(ctx, call)
	cut.after = after
	if err != nil {
		return err
	}
	return matches("dst", dst, func(i int) int64 { return want[i] })
}

// crowded is a team whose memory for plans is used up by a few calls.
var crowded = collectives.Config{Scratch: 32 << 10, Slots: 256}

// sumCut makes an AllReduce of n elements, as a single call or by a plan, and checks it.
func sumCut(ctx context.Context, team *collectives.Team, cut *cutter, n int, how int) error {
	size := team.Size()
	buf := vector(n, func(i int) int32 { return int32(i * (team.Rank() + 1)) })
	call := func(ctx context.Context) error {
		return collectives.AllReduce(ctx, team, buf, collectives.Sum, whole())
	}
	var plan *collectives.Plan
	switch how {
	case 1:
		err := cut.through(ctx, func(ctx context.Context) (err error) {
			plan, err = collectives.NewPlan(ctx, team, collectives.AllReduceTask(buf, collectives.Sum, whole()))
			return err
		})
		if err != nil {
			return err
		}
		call = plan.Run
	case 2:
		var h *collectives.Handle
		err := cut.through(ctx, func(ctx context.Context) (err error) {
			h, err = collectives.Start(ctx, team, collectives.AllReduceTask(buf, collectives.Sum, whole()))
			return err
		})
		if err != nil {
			return err
		}
		call = h.Wait
	}
	if err := cut.through(ctx, call); err != nil {
		return err
	}
	if err := matches("sum", buf, func(i int) int32 { return int32(i * size * (size + 1) / 2) }); err != nil || plan == nil {
		return err
	}
	if err := cut.through(ctx, func(ctx context.Context) error { return collectives.Barrier(ctx, team) }); err != nil {
		return err
	}
	return plan.Close()
}

// allocCut makes a vector by Alloc, reduces in it, and gives it back.
func allocCut(ctx context.Context, team *collectives.Team, cut *cutter, n int) error {
	var buf []int64
	err := cut.through(ctx, func(ctx context.Context) (err error) {
		buf, err = collectives.Alloc[int64](ctx, team, n)
		return err
	})
	if err != nil {
		return err
	}
	for i := range buf {
		buf[i] += int64(i)
	}
	if err := cut.through(ctx, func(ctx context.Context) error { return collectives.AllReduce(ctx, team, buf, collectives.Sum) }); err != nil {
		return err
	}
	if err := matches("sum", buf, func(i int) int64 { return int64(i * team.Size()) }); err != nil {
		return err
	}
	return cut.through(ctx, func(ctx context.Context) error { return collectives.Release(ctx, team, buf) })
}

// TestMemoryGoesOn cuts calls that grow the team's memory or recycle it, Alloc, Release
// and Reset: the same call goes on, and results are exact.
func TestMemoryGoesOn(t *testing.T) {
	for _, ranks := range []int{2, 5} {
		for _, seed := range cutSeeds(t) {
			onTeam(t, ranks, crowded, func(ctx context.Context, team *collectives.Team) error {
				plan, cut := rand.New(rand.NewPCG(seed, 1<<40)), newCutter(seed, team.Rank())
				for round := range 60 {
					kind, n := plan.IntN(8), 1+plan.IntN(6000)
					var err error
					switch kind {
					case 0:
						err = allocCut(ctx, team, cut, n)
					case 1:
						err = cut.through(ctx, team.Reset)
					default:
						err = sumCut(ctx, team, cut, n, kind%3)
					}
					if err != nil {
						return fmt.Errorf("seed %d, round %d, kind %d: %w", seed, round, kind, err)
					}
				}
				return nil
			})
		}
	}
}

// TestResetAtAnyPoint has members give up a call, Alloc or Release at points of their
// own: after Reset, itself cut, the team is as new.
func TestResetAtAnyPoint(t *testing.T) {
	for _, ranks := range []int{2, 5} {
		for _, seed := range cutSeeds(t) {
			onTeam(t, ranks, crowded, func(ctx context.Context, team *collectives.Team) error {
				plan, cut := rand.New(rand.NewPCG(seed, 1<<41)), newCutter(seed, team.Rank())
				ended, cancel := context.WithCancel(ctx)
				cancel()
				for round := range 40 {
					kind, n := plan.IntN(3), 1+plan.IntN(6000)
					buf := make([]int32, n)
					for range cut.rng.IntN(60) {
						var err error
						if kind == 0 {
							_, err = collectives.Alloc[int64](ended, team, n)
						} else {
							err = collectives.AllReduce(ended, team, buf, collectives.Sum, whole())
						}
						if err == nil || !errors.Is(err, context.Canceled) {
							break // also where others are in Reset already
						}
						runtime.Gosched()
					}
					if err := cut.through(ctx, team.Reset); err != nil {
						return fmt.Errorf("seed %d, round %d, kind %d: reset: %w", seed, round, kind, err)
					}
					if err := allTell(ctx, team); err != nil {
						return fmt.Errorf("seed %d, round %d, kind %d: after it: %w", seed, round, kind, err)
					}
				}
				return nil
			})
		}
	}
}

// allTell makes two calls that a team that is as new can make.
func allTell(ctx context.Context, team *collectives.Team) error {
	for n := range 2 {
		one := []int64{int64(team.Rank() + n)}
		if err := collectives.AllReduce(ctx, team, one, collectives.Max); err != nil {
			return err
		}
		if one[0] != int64(team.Size()-1+n) {
			return fmt.Errorf("the greatest of %d numbers is %d", team.Size(), one[0])
		}
	}
	return nil
}
