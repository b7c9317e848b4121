package collective

import (
	"context"
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// Several measures operations on several vectors of each rank.
func Several() measure.Benchmark {
	return measure.Benchmark{
		Name: "several", MinRanks: 1, Sizes: []uint64{8, 1 << 10, 64 << 10, 1 << 20},
		About: `an allreduce and a reducescatter of three vectors of each rank. Bytes are
those of a vector. Rows fold, beside those of one call: each rank folds its vectors into
one, and calls the operation for that; an allreduce copies the result to the others.
Limit: a call for one vector.`,
		Prepare: prepareSeveral,
	}
}

// severalVectors are three vectors of a rank, one for their fold, and a block for a result.
type severalVectors struct {
	t     *collectives.Team
	srcs  [][]float64
	bytes [][]byte // of srcs
	sum   []float64
	block []float64
	fold  reduce.Fold
}

// A severalWay is a way to do an operation on some of the vectors. The result is in all of these, or in
// the block.
type severalWay struct {
	vectors int
	call    func(ctx context.Context, v *severalVectors) error
}

// severalCalls are operations, with both ways to do them on all vectors, and that on the first.
var severalCalls = []struct {
	name            string
	blocks          bool // a rank has a block of the result
	many, fold, one severalWay
}{
	{"allreduce", false, severalWay{3, func(ctx context.Context, v *severalVectors) error {
		return collectives.AllReduceMany(ctx, v.t, v.srcs, collectives.Sum)
	}}, severalWay{3, func(ctx context.Context, v *severalVectors) error {
		v.fold(v.bytes[0], v.bytes)
		err := collectives.AllReduce(ctx, v.t, v.srcs[0], collectives.Sum)
		for _, other := range v.srcs[1:] {
			copy(other, v.srcs[0])
		}
		return err
	}}, severalWay{1, func(ctx context.Context, v *severalVectors) error {
		return collectives.AllReduce(ctx, v.t, v.srcs[0], collectives.Sum)
	}}},
	{"reducescatter", true, severalWay{3, func(ctx context.Context, v *severalVectors) error {
		return collectives.ReduceScatterMany(ctx, v.t, v.block, v.srcs, collectives.Sum)
	}}, severalWay{3, func(ctx context.Context, v *severalVectors) error {
		v.fold(reduce.BytesOf(v.sum), v.bytes)
		return collectives.ReduceScatter(ctx, v.t, v.block, v.sum, collectives.Sum)
	}}, severalWay{1, func(ctx context.Context, v *severalVectors) error {
		return collectives.ReduceScatter(ctx, v.t, v.block, v.srcs[0], collectives.Sum)
	}}},
}

func prepareSeveral(_ context.Context, b *measure.Bench, size uint64) ([]measure.Workload, error) {
	block := max(1, int(size)/8/b.P.Size())
	bytes := uint64(8 * block * b.P.Size())
	var all []measure.Workload
	for _, op := range severalCalls {
		all = append(all, measure.Workload{
			Subject: report.Subject{Op: op.name + "-3", Bytes: bytes, Moves: true}, Timed: true, Steps: 1,
			Open: func(ctx context.Context, w *measure.Workload) (func(context.Context) error, error) {
				v, release, err := openSeveral(ctx, b, block)
				if err != nil {
					return nil, err
				}
				add := func(impl string, way severalWay) {
					batch := measure.Repeat(ctx, func(ctx context.Context) error { return way.call(ctx, v) })
					w.Contenders = append(w.Contenders, measure.Contender{Impl: impl, Batch: batch})
					w.Checks = append(w.Checks, v.checks(way.vectors, op.blocks))
				}
				add(report.ImplGaspi, op.many)
				add("fold", op.fold)
				add(report.ImplLimit, op.one)
				return release, nil
			},
		})
	}
	return all, nil
}

// openSeveral makes vectors of so many blocks as there are ranks, and returns what gives them back.
func openSeveral(ctx context.Context, b *measure.Bench, block int) (*severalVectors, func(context.Context) error, error) {
	t, err := collectives.NewTeam(ctx, b.P.World(), collectives.Config{})
	if err != nil {
		return nil, nil, err
	}
	n := block * t.Size()
	memory, err := collectives.Alloc[float64](ctx, t, 4*n+block)
	if err != nil {
		return nil, nil, err
	}
	v := &severalVectors{t: t, sum: memory[3*n : 4*n], block: memory[4*n:]}
	for i := range 3 {
		v.srcs = append(v.srcs, memory[i*n:(i+1)*n])
		v.bytes = append(v.bytes, reduce.BytesOf(v.srcs[i]))
	}
	v.fold, err = reduce.FoldOf[float64](reduce.Sum)
	return v, func(ctx context.Context) error { return errors.Join(collectives.Release(ctx, t, memory), t.Close()) }, err
}

// checks fill the vectors, and look at the result of an operation on the first ones of all ranks.
func (v *severalVectors) checks(vectors int, blocks bool) limit.Buffers {
	ranks, me := v.t.Size(), v.t.Rank()
	contribution := func(rank, vector, element, iteration int) float64 {
		return float64(element%251 + 3*rank + vector + iteration%97)
	}
	return limit.Buffers{
		Fill: func(iteration int) {
			clear(v.block)
			for k, src := range v.srcs {
				for i := range src {
					src[i] = contribution(me, k, i, iteration)
				}
			}
		},
		Check: func(iteration int) error {
			results, first := v.srcs[:vectors], 0
			if blocks {
				results, first = [][]float64{v.block}, me*len(v.block)
			}
			for _, result := range results {
				for i, got := range result {
					want := 0.0
					for rank := range ranks {
						for k := range vectors {
							want += contribution(rank, k, first+i, iteration)
						}
					}
					if got != want {
						return fmt.Errorf("%d vectors: rank %d has %v at element %d in iteration %d, want %v", vectors, me, got, i, iteration, want)
					}
				}
			}
			return nil
		},
	}
}
