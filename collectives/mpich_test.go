package collectives_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/collectives/internal/oracle"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// The tests of this file ask what the programs of MPICH's test/mpi/coll ask; the
// names are those.

// reductions are the operations that combine elements.
func reductions() []schedule.Operation {
	return []schedule.Operation{schedule.AllReduce, schedule.Reduce, schedule.ReduceScatter, schedule.Scan, schedule.ExScan}
}

// TestAllred is allred and its kin op*, red3, redscat, scantst: all types and
// operations, ties of minloc and maxloc among them, by the algorithm that the team
// chooses.
func TestAllred(t *testing.T) {
	var all []*instance
	for i, k := range reductionKinds() {
		for _, op := range reductions() {
			x := &instance{seed: uint64(i), ranks: 4, op: op, kind: k, count: 20 + i, root: i % 4, memory: memory(i % 2), vectors: 1, rounds: 1}
			x.inPlace = x.placed(i%3 == 0)
			all = append(all, x)
		}
	}
	each(t, 4, collectives.Config{}, all)
}

// TestAllred3And4 is allred3, allred4, red3, red4, redscat and scantst with functions
// that do not commute: by every algorithm that keeps the order of ranks.
func TestAllred3And4(t *testing.T) {
	for ranks := 1; ranks <= 9; ranks++ {
		var all []*instance
		for _, op := range reductions() {
			for i, a := range algorithms.For(op) {
				if !a.Ordered {
					continue
				}
				for j, k := range reductionKinds() {
					if !k.ordered {
						continue
					}
					x := &instance{seed: uint64(i), ranks: ranks, op: op, algorithm: a.Name, kind: k, count: 5 * (j%3 + 1), root: (i + j) % ranks, memory: memory(j % 2), vectors: 1, rounds: 2}
					if x.inPlace = x.placed(true); x.fits() {
						all = append(all, x)
					}
				}
			}
		}
		each(t, ranks, collectives.Config{}, all)
	}
}

// TestAllred5 is vectors longer and shorter than there are ranks.
func TestAllred5(t *testing.T) {
	const ranks = 7
	var all []*instance
	for _, a := range algorithms.For(schedule.AllReduce) {
		for _, count := range []int{ranks - 1, ranks + 1, 2*ranks - 1, 3 * ranks, 1000} {
			all = append(all, &instance{
				ranks: ranks, op: schedule.AllReduce, algorithm: a.Name, kind: builtin(oracle.Integers[int32](collectives.Sum), collectives.Sum),
				count: count, inPlace: true, memory: allocated, vectors: 1, rounds: 2,
			})
		}
	}
	all = slices.DeleteFunc(all, func(x *instance) bool { return !x.fits() })
	each(t, ranks, collectives.Config{}, all)
}

// inexact is what a rank contributes where rounding depends on the order.
func inexact(rank, i int) float64 {
	return math.Sqrt(float64(3+i+17*rank)) * math.Pow(10, float64(rank%5))
}

func add(dst, a, b []float64) {
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

// TestAllred6 has a function that commutes pretend that it does not: the result is
// that of the order of ranks, to the bit.
func TestAllred6(t *testing.T) {
	const n = 50
	for _, ranks := range []int{2, 3, 5, 8} {
		onTeam(t, ranks, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
			for _, a := range algorithms.For(schedule.AllReduce) {
				if !a.Ordered || a.Coded {
					continue
				}
				plain := vector(n, func(i int) int { return i + team.Rank() })
				if err := collectives.AllReduceFunc(ctx, team, plain, func(dst, a, b []int) {
					for i := range dst {
						dst[i] = a[i] + b[i]
					}
				}, true, collectives.Algorithm(a.Name)); err != nil {
					return err
				}
				if err := matches(a.Name, plain, func(i int) int { return ranks*i + ranks*(ranks-1)/2 }); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// TestRed4 finds the result of a reduce that keeps the order to be the same bits
// whatever the root, though every order of additions rounds differently, and those
// of an allreduce to be the same bits on all ranks and in every run, unless the
// algorithm says that they differ.
func TestRed4(t *testing.T) {
	const ranks, n = 7, 40
	onTeam(t, ranks, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		mine := vector(n, func(i int) float64 { return inexact(team.Rank(), i) })
		for _, a := range algorithms.For(schedule.Reduce) {
			if !a.Ordered {
				continue
			}
			results := make([]float64, ranks*n)
			for root := range ranks {
				buf := slices.Clone(mine)
				if _, err := collectives.ReduceFunc(ctx, team, root, buf, add, true, collectives.Algorithm(a.Name)); err != nil {
					return err
				}
				if team.Rank() == root {
					copy(results[root*n:], buf)
				}
			}
			if err := collectives.AllGather(ctx, team, results, results[team.Rank()*n:][:n]); err != nil {
				return err
			}
			if err := matches("reduce/"+a.Name, results, func(i int) float64 { return results[i%n] }); err != nil {
				return err
			}
		}
		for _, a := range algorithms.For(schedule.AllReduce) {
			if a.Coded || a.Differs {
				continue
			}
			first := slices.Clone(mine)
			for run := range 3 {
				buf := slices.Clone(mine)
				if err := collectives.AllReduce(ctx, team, buf, collectives.Sum, collectives.Algorithm(a.Name)); err != nil {
					return err
				}
				if run == 0 {
					copy(first, buf)
				}
				if err := matches("allreduce/"+a.Name, buf, func(i int) float64 { return first[i] }); err != nil {
					return err
				}
			}
			all := make([]float64, ranks*n)
			if err := collectives.AllGather(ctx, team, all, first); err != nil {
				return err
			}
			if err := matches("allreduce/"+a.Name+" of all ranks", all, func(i int) float64 { return first[i%n] }); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestAllredmany is a loop of calls without anything between them, by every
// algorithm, as a program writes it.
func TestAllredmany(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	for _, a := range algorithms.For(schedule.AllReduce) {
		if a.Coded {
			continue
		}
		onTeam(t, 4, collectives.Config{Algorithms: "allreduce:" + a.Name}, func(ctx context.Context, team *collectives.Team) error {
			alloc, err := collectives.Alloc[int64](ctx, team, 10)
			if err != nil {
				return err
			}
			for _, buf := range [][]int64{alloc, make([]int64, 10), alloc[:1]} {
				for round := range rounds {
					for i := range buf {
						buf[i] = int64(round*i + team.Rank())
					}
					if err := collectives.AllReduce(ctx, team, buf, collectives.Sum); err != nil {
						return fmt.Errorf("%s, round %d: %w", a.Name, round, err)
					}
					if err := matches(fmt.Sprintf("%s, round %d", a.Name, round), buf, func(i int) int64 { return int64(4*round*i + 6) }); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
}

// TestBcasttest is bcasttest: sizes from 100 to a million, five times each.
func TestBcasttest(t *testing.T) {
	most := 1_000_000
	if testing.Short() {
		most = 20_000
	}
	onTeam(t, 4, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		for n := 100; n <= most; n *= 10 {
			for round := range 5 {
				root := round % 4
				buf := vector(n, func(i int) int32 { return int32(i*(team.Rank()+1) + round) })
				if _, err := collectives.Broadcast(ctx, team, root, buf); err != nil {
					return err
				}
				if err := matches(fmt.Sprintf("%d, round %d", n, round), buf, func(i int) int32 { return int32(i*(root+1) + round) }); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// TestZeroCounts is bcastzerotype, alltoallv0, alltoallw_zeros and the like: nothing
// to do, for all or for all but one.
func TestZeroCounts(t *testing.T) {
	const ranks = 5
	for _, alone := range []int{-1, 0, 2, ranks - 1} {
		onTeam(t, ranks, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
			me := team.Rank()
			counts := make([]int, ranks)
			mine := []uint16{}
			var all []uint16
			if alone >= 0 {
				counts[alone], all = 3, make([]uint16, 3)
			}
			if me == alone {
				mine = []uint16{7, 8, 9}
			}
			if err := collectives.AllGatherV(ctx, team, all, mine, counts); err != nil {
				return err
			}
			if err := matches("allgatherv", all, func(i int) uint16 { return uint16(7 + i) }); err != nil {
				return err
			}
			if err := collectives.ScatterV(ctx, team, 1, mine, all, counts); err != nil {
				return err
			}
			if err := collectives.ReduceScatterV(ctx, team, mine, all, counts, collectives.Max); err != nil {
				return err
			}
			if err := matches("reducescatterv", mine, func(i int) uint16 { return uint16(7 + i) }); err != nil {
				return err
			}
			clear(all)
			if err := collectives.GatherV(ctx, team, 3, all, mine, counts); err != nil {
				return err
			}
			if err := matches("gatherv", all, func(i int) uint16 { return uint16(btoi(me == 3) * (7 + i)) }); err != nil {
				return err
			}
			if err := zeroAllToAll(ctx, team, alone); err != nil {
				return err
			}
			return zeroPlain(ctx, team)
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// zeroAllToAll has one rank send two elements to its right, and nobody else anything.
func zeroAllToAll(ctx context.Context, team *collectives.Team, alone int) error {
	ranks, me := team.Size(), team.Rank()
	sends, receives := make([]int, ranks), make([]int, ranks)
	var src, dst []uint16
	if alone >= 0 && me == alone {
		sends[(me+1)%ranks], src = 2, []uint16{4, 5}
	}
	if alone >= 0 && me == (alone+1)%ranks {
		receives[alone], dst = 2, make([]uint16, 2)
	}
	if err := collectives.AllToAllV(ctx, team, dst, receives, src, sends); err != nil {
		return err
	}
	return matches("alltoallv", dst, func(i int) uint16 { return uint16(4 + i) })
}

// zeroPlain is every operation on nothing.
func zeroPlain(ctx context.Context, team *collectives.Team) error {
	var none []float32
	_, broadcast := collectives.Broadcast(ctx, team, 2, none)
	_, reduce := collectives.Reduce(ctx, team, 2, none, collectives.Sum)
	for i, err := range []error{
		broadcast, reduce,
		collectives.AllReduce(ctx, team, none, collectives.Sum),
		collectives.AllReduceInto(ctx, team, none, []float32{}, collectives.Sum),
		collectives.AllReduceMany(ctx, team, [][]float32{none, none}, collectives.Sum),
		collectives.ReduceScatter(ctx, team, none, none, collectives.Sum),
		collectives.AllGather(ctx, team, none, none),
		collectives.Gather(ctx, team, 0, none, none),
		collectives.Scatter(ctx, team, 0, none, none),
		collectives.AllToAll(ctx, team, none, none),
		collectives.Scan(ctx, team, none, collectives.Sum),
		collectives.ExScan(ctx, team, none, collectives.Sum),
		collectives.Exchange(ctx, team, none, none, 3),
		collectives.Barrier(ctx, team),
	} {
		if err != nil {
			return fmt.Errorf("operation %d on nothing: %w", i, err)
		}
	}
	return nil
}

// TestLonguser is longuser: a slow function of the program, which lets others run.
func TestLonguser(t *testing.T) {
	slow := func(dst, a, b []oracle.Matrix) {
		fold := oracle.Matrices().Fold
		for i := range dst {
			for range 20 {
				runtime.Gosched()
			}
			dst[i] = fold(a[i], b[i])
		}
	}
	onTeam(t, 5, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		e := oracle.Matrices()
		buf := vector(500, func(i int) oracle.Matrix { return e.In(oracle.Place{Part: team.Rank(), Index: i}, 5) })
		if err := collectives.AllReduceFunc(ctx, team, buf, slow, true, collectives.Concurrency(4)); err != nil {
			return err
		}
		return matches("longuser", buf, func(i int) oracle.Matrix { return e.Folded(oracle.Place{Index: i}, 0, 5, 5) })
	})
}
