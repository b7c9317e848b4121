package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// onTeams runs main on teams of several sizes.
func onTeams(t *testing.T, sizes []int, main func(ctx context.Context, team *collectives.Team) error) {
	t.Helper()
	for _, n := range sizes {
		ranktest.Local(t, n, small, func(ctx context.Context, p *gaspi.Proc) error {
			team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
			if err != nil {
				return err
			}
			if err := main(ctx, team); err != nil {
				return fmt.Errorf("%d ranks: %w", n, err)
			}
			if err := p.Barrier(ctx, p.World()); err != nil {
				return err
			}
			return team.Close()
		})
	}
}

// grain is a number of which all that the tests add are multiples, so that sums are
// exact.
const grain = 1.0 / (1 << 20)

// grains is what rank contributes to a vector of n elements.
func grains(rank, n, round int) []float64 {
	rng := rand.New(rand.NewPCG(uint64(rank), uint64(round)))
	all := make([]float64, n)
	for i := range all {
		all[i] = math.Round(rng.NormFloat64()/grain) * grain
	}
	return all
}

// sumOfGrains is the sum of what so many ranks contribute.
func sumOfGrains(ranks, n, round int) []float64 {
	total := make([]float64, n)
	for r := range ranks {
		for i, x := range grains(r, n, round) {
			total[i] += x
		}
	}
	return total
}

// sameEverywhere returns an error if buf is not the same bits on all members.
func sameEverywhere(ctx context.Context, team *collectives.Team, buf []float64) error {
	all := make([]float64, len(buf)*team.Size())
	if err := collectives.AllGather(ctx, team, all, buf); err != nil {
		return err
	}
	for i := range all {
		if mine := buf[i%len(buf)]; math.Float64bits(all[i]) != math.Float64bits(mine) {
			return fmt.Errorf("element %d is %v at rank %d and %v at rank %d", i%len(buf), all[i], i/len(buf), mine, team.Rank())
		}
	}
	return nil
}

func sameVector[T comparable](what string, got, want []T) error {
	for i := range want {
		if got[i] != want[i] {
			return fmt.Errorf("%s: element %d of %d is %v, want %v", what, i, len(want), got[i], want[i])
		}
	}
	return nil
}

// nearVector returns an error if got is farther from want than limit.
func nearVector(what string, got, want []float64, limit float64) error {
	for i := range want {
		if d := math.Abs(got[i] - want[i]); !(d <= limit) {
			return fmt.Errorf("%s: element %d of %d is %v, want %v; that is off by %v, more than %v", what, i, len(want), got[i], want[i], d, limit)
		}
	}
	return nil
}

func TestLosslessAllReduceIsExact(t *testing.T) {
	lossless := collectives.Compress(collectives.Lossless())
	onTeams(t, []int{1, 2, 3, 5}, func(ctx context.Context, team *collectives.Team) error {
		p := team.Size()
		for round, n := range []int{0, 1, p - 1, p + 1, 1000, 9000} {
			want := sumOfGrains(p, n, round)
			for _, opts := range [][]collectives.Option{{lossless}, {lossless, collectives.Concurrency(3)}, {lossless, collectives.SegmentSize(max(1, n/5)), collectives.Concurrency(2)}} {
				buf := grains(team.Rank(), n, round)
				if err := collectives.AllReduce(ctx, team, buf, collectives.Sum, opts...); err != nil {
					return err
				}
				into := make([]float64, n)
				if err := collectives.AllReduceInto(ctx, team, into, grains(team.Rank(), n, round), collectives.Sum, opts...); err != nil {
					return err
				}
				many := [][]float64{grains(team.Rank(), n, round), grains(team.Rank(), n, round)}
				if err := collectives.AllReduceMany(ctx, team, many, collectives.Sum, opts...); err != nil {
					return err
				}
				for i := range want {
					many[1][i] /= 2
				}
				if err := errors.Join(sameVector("in place", buf, want), sameVector("into", into, want), sameVector("two vectors", many[1], want)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func TestLosslessAllReduceOfAnything(t *testing.T) {
	lossless := collectives.Compress(collectives.Lossless())
	type square [4]uint8 // a matrix
	times := func(dst, a, b []square) {
		for i := range dst {
			x, y := a[i], b[i]
			dst[i] = square{x[0]*y[0] + x[1]*y[2], x[0]*y[1] + x[1]*y[3], x[2]*y[0] + x[3]*y[2], x[2]*y[1] + x[3]*y[3]}
		}
	}
	onTeams(t, []int{2, 5}, func(ctx context.Context, team *collectives.Team) error {
		const n = 3000
		buf, err := collectives.Alloc[int16](ctx, team, n)
		if err != nil {
			return err
		}
		squares, product := make([]square, n), make([]square, n)
		want := make([]int16, n)
		for i := range n {
			buf[i] = int16(i * (team.Rank() + 1))
			squares[i] = square{byte(i), byte(team.Rank()), 3, byte(i * team.Rank())}
			want[i] = int16(i)
			product[i] = square{byte(i), 0, 3, 0}
			for r := 1; r < team.Size(); r++ {
				want[i] = max(want[i], int16(i*(r+1)))
				times(product[i:i+1], product[i:i+1], []square{{byte(i), byte(r), 3, byte(i * r)}})
			}
		}
		if err := collectives.AllReduce(ctx, team, buf, collectives.Max, lossless); err != nil {
			return err
		}
		if err := collectives.AllReduceFunc(ctx, team, squares, times, true, lossless); err != nil {
			return err
		}
		return errors.Join(sameVector("the largest", buf, want), sameVector("matrices", squares, product), collectives.Release(ctx, team, buf))
	})
}

func TestCompressedBroadcast(t *testing.T) {
	type pixel struct{ r, g, b byte }
	onTeams(t, []int{1, 2, 5}, func(ctx context.Context, team *collectives.Team) error {
		for root := range team.Size() {
			for _, algorithm := range []string{"", "coded", "coded-chain"} {
				opts := []collectives.Option{collectives.Algorithm(algorithm), collectives.Concurrency(root % 3)}
				buf := make([]pixel, 5000)
				want := slices.Clone(buf)
				for i := range want {
					want[i] = pixel{byte(i), byte(i >> 8), byte(root)}
				}
				if team.Rank() == root {
					copy(buf, want)
				}
				if _, err := collectives.Broadcast(ctx, team, root, buf, append(opts, collectives.Compress(collectives.Lossless()))...); err != nil {
					return err
				}
				if err := sameVector("pixels from rank "+fmt.Sprint(root), buf, want); err != nil {
					return err
				}
				const bound = 1.0 / 256
				exact := grains(root, 1000, 7)
				lossy := make([]float64, 1000)
				if team.Rank() == root {
					copy(lossy, exact)
				}
				if _, err := collectives.Broadcast(ctx, team, root, lossy, append(opts, collectives.Compress(collectives.ErrorBound(bound)))...); err != nil {
					return err
				}
				if err := errors.Join(nearVector("broadcast", lossy, exact, bound), sameEverywhere(ctx, team, lossy)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func TestErrorBoundOfSums(t *testing.T) {
	const bound, n, rounds = 1.0 / 64, 3000, 20
	how := collectives.Compress(collectives.ErrorBound(bound))
	onTeams(t, []int{2, 3, 5}, func(ctx context.Context, team *collectives.Team) error {
		p := float64(team.Size())
		buf := make([]float64, n)
		plan, err := collectives.PlanAllReduce(ctx, team, buf, collectives.Sum, how, collectives.Concurrency(2))
		if err != nil {
			return err
		}
		got, want := make([]float64, n), make([]float64, n)
		for round := range rounds {
			single := grains(team.Rank(), n, round)
			if err := collectives.AllReduce(ctx, team, single, collectives.Sum, how); err != nil {
				return err
			}
			copy(buf, grains(team.Rank(), n, round))
			if err := plan.Run(ctx); err != nil {
				return err
			}
			exact := sumOfGrains(team.Size(), n, round)
			err := errors.Join(nearVector("single", single, exact, p*bound), nearVector("plan", buf, exact, p*bound),
				sameEverywhere(ctx, team, single), sameEverywhere(ctx, team, buf))
			if err != nil {
				return err
			}
			for i := range n {
				got[i] += buf[i]
				want[i] += exact[i]
			}
		}
		if r := plan.Ratio(); r > 0.25 {
			return fmt.Errorf("coded forms have %v of the bytes", r)
		}
		return nearVector("sum of all runs", got, want, p*bound/2)
	})
}

func TestWhatTopKLosesComesLater(t *testing.T) {
	const n, rounds, ranks = 400, 300, 3
	how := collectives.Compress(collectives.TopK(0.05))
	steady := func(rank, i int) float64 { return 1 + float64((i*7+rank*3)%n)/n }
	onTeams(t, []int{ranks}, func(ctx context.Context, team *collectives.Team) error {
		buf := make([]float64, n)
		plan, err := collectives.PlanAllReduce(ctx, team, buf, collectives.Sum, how)
		if err != nil {
			return err
		}
		most := func(sums []float64, rounds int) float64 {
			worst := 0.0
			for i, got := range sums {
				want := 0.0
				for r := range ranks {
					want += float64(rounds) * steady(r, i)
				}
				worst = max(worst, math.Abs(got-want))
			}
			return worst
		}
		fill := func() {
			for i := range buf {
				buf[i] = steady(team.Rank(), i)
			}
		}
		kept, forgotten := make([]float64, n), make([]float64, n)
		var half float64
		for round := range rounds {
			fill()
			if err := plan.Run(ctx); err != nil {
				return err
			}
			for i, x := range buf {
				kept[i] += x
			}
			if err := sameEverywhere(ctx, team, buf); err != nil {
				return err
			}
			fill()
			if err := collectives.AllReduce(ctx, team, buf, collectives.Sum, how); err != nil {
				return err
			}
			for i, x := range buf {
				forgotten[i] += x
			}
			if round == rounds/2-1 {
				half = most(kept, rounds/2)
			}
		}
		end, without := most(kept, rounds), most(forgotten, rounds)
		if end > 1.25*half || without < 3*end || without < rounds*ranks {
			return fmt.Errorf("after %d runs %v is missing, after %d %v, and without memory %v", rounds/2, half, rounds, end, without)
		}
		if r := plan.Ratio(); r > 0.1 {
			return fmt.Errorf("coded forms have %v of the bytes", r)
		}
		return nil
	})
}

// TestResetForgetsWhatWasLost runs a plan from the beginning again.
func TestResetForgetsWhatWasLost(t *testing.T) {
	onTeams(t, []int{2}, func(ctx context.Context, team *collectives.Team) error {
		buf := make([]float64, 300)
		plan, err := collectives.PlanAllReduce(ctx, team, buf, collectives.Sum, collectives.Compress(collectives.TopK(0.1)))
		if err != nil {
			return err
		}
		var results [3][]float64
		for i := range results {
			if i == 2 {
				if err := team.Reset(ctx); err != nil {
					return err
				}
			}
			copy(buf, grains(team.Rank(), len(buf), 0))
			if err := plan.Run(ctx); err != nil {
				return err
			}
			results[i] = slices.Clone(buf)
		}
		if slices.Equal(results[0], results[1]) {
			return errors.New("the second run is like the first: nothing was remembered")
		}
		return sameVector("after Reset", results[2], results[0])
	})
}

func TestCompressedAmongOthers(t *testing.T) {
	onTeams(t, []int{3, 4}, func(ctx context.Context, team *collectives.Team) error {
		const n = 2000
		for round := range 6 {
			var handles []*collectives.Handle
			var sums [][]float64
			news := make([]float64, n)
			if team.Rank() == 1 {
				news = grains(9, n, round)
			}
			start := func(task collectives.Task) error {
				h, err := collectives.Start(ctx, team, task)
				handles = append(handles, h)
				return err
			}
			for k := range 4 {
				buf := grains(team.Rank(), n, round)
				sums = append(sums, buf)
				opts := []collectives.Option{collectives.Compress(collectives.Lossless()), collectives.Concurrency(k)}
				if k%2 == 0 {
					opts = nil
				}
				if err := start(collectives.AllReduceTask(buf, collectives.Sum, opts...)); err != nil {
					return err
				}
			}
			if err := start(collectives.BroadcastTask(1, news, collectives.Compress(collectives.Lossless()))); err != nil {
				return err
			}
			for _, h := range slices.Backward(handles) {
				if err := h.Wait(ctx); err != nil {
					return err
				}
			}
			for _, buf := range sums {
				if err := sameVector("sum", buf, sumOfGrains(team.Size(), n, round)); err != nil {
					return err
				}
			}
			if err := sameVector("news", news, grains(9, n, round)); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestCompressionRefused(t *testing.T) {
	buf, whole := make([]float64, 100), make([]int32, 100)
	how := func(c collectives.Compression) collectives.Option { return collectives.Compress(c) }
	bound := how(collectives.ErrorBound(0.1))
	add := func(dst, a, b []float64) {}
	for _, c := range []struct {
		name string
		task collectives.Task
		is   error
		says string
	}{
		{"reduce", collectives.ReduceTask(0, buf, collectives.Sum, how(collectives.Lossless())), gaspi.ErrNotSupported, "only allreduce and broadcast"},
		{"product", collectives.AllReduceTask(buf, collectives.Prod, bound), gaspi.ErrNotSupported, "sums and broadcasts"},
		{"function", collectives.AllReduceFuncTask(buf, add, false, bound), gaspi.ErrNotSupported, "sums and broadcasts"},
		{"integers", collectives.AllReduceTask(whole, collectives.Sum, bound), gaspi.ErrNotSupported, "int32"},
		{"bound of zero", collectives.AllReduceTask(buf, collectives.Sum, how(collectives.ErrorBound(0))), gaspi.ErrOutOfRange, "error bound is 0"},
		{"more than all", collectives.AllReduceTask(buf, collectives.Sum, how(collectives.TopK(2))), gaspi.ErrOutOfRange, "(0,1]"},
		{"ring", collectives.AllReduceTask(buf, collectives.Sum, bound, collectives.Algorithm("ring")), gaspi.ErrNotSupported, "does not compress"},
		{"coded without option", collectives.AllReduceTask(buf, collectives.Sum, collectives.Algorithm("coded")), gaspi.ErrNotSupported, "option Compress"},
	} {
		onTeams(t, []int{2}, func(ctx context.Context, team *collectives.Team) error {
			err := collectives.Do(ctx, team, c.task)
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			return nil
		})
	}
}

// TestOtherCompressionElsewhere tests that members agree on how to compress.
func TestOtherCompressionElsewhere(t *testing.T) {
	onTeams(t, []int{2}, func(ctx context.Context, team *collectives.Team) error {
		how := collectives.ErrorBound(float64(team.Rank() + 1))
		err := collectives.AllReduce(ctx, team, make([]float64, 1000), collectives.Sum, collectives.Compress(how))
		if !errors.Is(err, gaspi.ErrMismatch) || !strings.Contains(err.Error(), "error bound 1") || !strings.Contains(err.Error(), "error bound 2") {
			return fmt.Errorf("two bounds: %w", err)
		}
		return nil
	})
}
