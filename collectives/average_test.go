package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// celsius is defined from a floating-point type.
type celsius float32

// TestAverage makes averages of all types, in all forms, with sums that are no multiples of the number
// of members: each has the bits of a division of the exact sum.
func TestAverage(t *testing.T) {
	for _, ranks := range []int{1, 3, 5} {
		t.Run(fmt.Sprint(ranks), func(t *testing.T) {
			onTeam(t, ranks, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
				return errors.Join(
					averages(ctx, team, func(x int) float32 { return float32(x) }, func(sum, by int) float32 { return float32(sum) / float32(by) }),
					averages(ctx, team, func(x int) celsius { return celsius(x) }, func(sum, by int) celsius { return celsius(sum) / celsius(by) }),
					averages(ctx, team, func(x int) float64 { return float64(x) }, func(sum, by int) float64 { return float64(sum) / float64(by) }),
					averages(ctx, team, func(x int) collectives.Float16 { return collectives.ToFloat16(float32(x)) },
						func(sum, by int) collectives.Float16 { return collectives.ToFloat16(float32(sum) / float32(by)) }),
					averages(ctx, team, func(x int) collectives.BFloat16 { return collectives.ToBFloat16(float32(x)) },
						func(sum, by int) collectives.BFloat16 { return collectives.ToBFloat16(float32(sum) / float32(by)) }),
				)
			})
		})
	}
}

func averages[T interface {
	collectives.Element
	comparable
}](ctx context.Context, team *collectives.Team, of func(int) T, quotient func(sum, by int) T) error {
	const n = 41
	size, me := team.Size(), team.Rank()
	value := func(rank, i int) int { return (i + 2*rank) % 7 }
	sum := func(i int) (s int) {
		for r := range size {
			s += value(r, i)
		}
		return s
	}
	fill := func(n int) []T { return vector(n, func(i int) T { return of(value(me, i)) }) }
	want := func(i int) T { return quotient(sum(i), size) }
	reached, err := collectives.Alloc[T](ctx, team, n)
	if err != nil {
		return err
	}
	for _, x := range [][]T{fill(n), reached} {
		for range 3 {
			copy(x, fill(n))
			if err := collectives.AllReduce(ctx, team, x, collectives.Average); err != nil {
				return err
			}
			if err := matches("allreduce", x, want); err != nil {
				return err
			}
		}
	}
	x := fill(n)
	plan, err := collectives.PlanAllReduce(ctx, team, x, collectives.Average, collectives.Concurrency(4))
	if err != nil {
		return err
	}
	for range 3 {
		copy(x, fill(n))
		if err := plan.Run(ctx); err != nil {
			return err
		}
		if err := matches("plan", x, want); err != nil {
			return err
		}
	}
	many := [][]T{fill(n), fill(n)}
	if err := collectives.AllReduceMany(ctx, team, many, collectives.Average); err != nil {
		return err
	}
	for _, x := range many {
		if err := matches("many", x, func(i int) T { return quotient(2*sum(i), size) }); err != nil {
			return err
		}
	}
	src, dst := fill(n*size), make([]T, n)
	for range 3 {
		if err := collectives.ReduceScatter(ctx, team, dst, src, collectives.Average); err != nil {
			return err
		}
		if err := matches("reducescatter", dst, func(i int) T { return want(me*n + i) }); err != nil {
			return err
		}
	}
	more := fill(n * size)
	if err := collectives.ReduceScatterMany(ctx, team, dst, [][]T{src, more}, collectives.Average); err != nil {
		return err
	}
	if err := matches("many, scattered", dst, func(i int) T { return quotient(2*sum(me*n+i), size) }); err != nil {
		return err
	}
	if err := matches("a vector of many", more, func(i int) T { return of(value(me, i)) }); err != nil {
		return err
	}
	if err := collectives.ReduceScatter(ctx, team, src[me*n:][:n], src, collectives.Average); err != nil {
		return err
	}
	if err := matches("reducescatter in place", src[me*n:][:n], func(i int) T { return want(me*n + i) }); err != nil {
		return err
	}
	counts, at := make([]int, size), 0
	for r := range counts {
		counts[r] = 3 + 2*r
		if r < me {
			at += counts[r]
		}
	}
	src = fill(size * (size + 2))
	if err := collectives.ReduceScatterV(ctx, team, src[at:][:counts[me]], src, counts, collectives.Average); err != nil {
		return err
	}
	return matches("reducescatterv in place", src[at:][:counts[me]], func(i int) T { return want(at + i) })
}

// TestAverageRefusals asks for averages of what has none.
func TestAverageRefusals(t *testing.T) {
	onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		for name, call := range map[string]struct {
			task collectives.Task
			want error
		}{
			"integers": {collectives.AllReduceTask(make([]int32, 3), collectives.Average), gaspi.ErrOutOfRange},
			"complex":  {collectives.AllReduceTask(make([]complex128, 3), collectives.Average), gaspi.ErrOutOfRange},
			"reduce":   {collectives.ReduceTask(0, make([]float32, 3), collectives.Average), gaspi.ErrNotSupported},
			"scan":     {collectives.ScanTask(make([]float32, 3), collectives.Average), gaspi.ErrNotSupported},
		} {
			if err := collectives.Do(ctx, team, call.task); !errors.Is(err, call.want) {
				return fmt.Errorf("%s: %v, want %v", name, err, call.want)
			}
		}
		return nil
	})
}

// TestAverageThatNeedsMemory makes averages whose plans the members agree on before they have memory.
func TestAverageThatNeedsMemory(t *testing.T) {
	onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		x := vector(1<<20, func(i int) float32 { return float32(i%100 + team.Rank()) })
		if err := collectives.AllReduce(ctx, team, x, collectives.Average, collectives.Algorithm("ring")); err != nil {
			return err
		}
		return matches("average", x, func(i int) float32 { return float32(i%100) + 0.5 })
	})
}
