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
