package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Goal: calls whose elements or bytes cannot be counted are refused. Their lengths wrap around to those of the buffers.
func TestMoreThanMemory(t *testing.T) {
	const (
		ranks   = 3
		quarter = math.MaxInt/4 + 1
	)
	counts := []int{math.MaxInt, math.MaxInt, 7} // 5
	bytes := []int{quarter, quarter, 7}          // of int32 28 bytes
	alloc := func(n int) func(context.Context, *collectives.Team) error {
		return func(ctx context.Context, t *collectives.Team) error {
			_, err := collectives.Alloc[float64](ctx, t, n)
			return err
		}
	}
	task := func(of func(t *collectives.Team) collectives.Task) func(context.Context, *collectives.Team) error {
		return func(ctx context.Context, t *collectives.Team) error { return collectives.Do(ctx, t, of(t)) }
	}
	ints := func(n int) []int32 { return make([]int32, n) }
	type refused struct {
		name string
		call func(ctx context.Context, t *collectives.Team) error
		says string
	}
	calls := []refused{
		{"alloc", alloc(quarter + 1), "2305843009213693953 elements of type float64; want at most 1152921504606846975"},
		{"alloc of nothing", alloc(quarter), "2305843009213693952 elements of type float64"},
		{"alltoallv", func(ctx context.Context, t *collectives.Team) error {
			return collectives.AllToAllV(ctx, t, ints(3), []int{1, 1, 1}, ints(5), counts)
		}, "src has 5 elements; want 9223372036854775807"},
		{"alltoallv to receive", func(ctx context.Context, t *collectives.Team) error {
			return collectives.AllToAllV(ctx, t, ints(5), counts, ints(3), []int{1, 1, 1})
		}, "dst has 5 elements; want 9223372036854775807"},
	}
	for _, c := range [][]int{counts, bytes} {
		long := 0
		for _, n := range c {
			long += n
		}
		if long > 7 {
			long = 7 // more than there can be
		}
		says := "the blocks have 9223372036854775807 elements of type int32 or more; want at most 2305843009213693951"
		if c[0] < math.MaxInt {
			says = "the blocks have 4611686018427387911 elements of type int32 or more"
		}
		for name, of := range map[string]func(t *collectives.Team) collectives.Task{
			"allgatherv": func(t *collectives.Team) collectives.Task {
				return collectives.AllGatherVTask(t, ints(long), ints(7), c)
			},
			"gatherv":  func(t *collectives.Team) collectives.Task { return collectives.GatherVTask(t, 0, nil, ints(7), c) },
			"scatterv": func(t *collectives.Team) collectives.Task { return collectives.ScatterVTask(t, 0, ints(7), nil, c) },
			"reducescatterv": func(t *collectives.Team) collectives.Task {
				return collectives.ReduceScatterVTask(t, ints(7), ints(long), c, collectives.Sum)
			},
			"reducescattermanyv": func(t *collectives.Team) collectives.Task {
				return collectives.ReduceScatterManyVTask(t, ints(7), [][]int32{ints(long), ints(long)}, c, collectives.Sum)
			},
		} {
			calls = append(calls, refused{fmt.Sprint(name, c), task(of), says})
		}
	}
	onTeam(t, ranks, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		for _, c := range calls {
			err := c.call(ctx, team)
			if !errors.Is(err, gaspi.ErrOutOfRange) || !strings.Contains(err.Error(), c.says) {
				return fmt.Errorf("%s: %v, want an error that says %q", c.name, err, c.says)
			}
			if err := collectives.Barrier(ctx, team); err != nil { // the team goes on
				return fmt.Errorf("after %s: %w", c.name, err)
			}
		}
		return nil
	})
}
