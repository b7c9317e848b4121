package object

import (
	"context"
	"slices"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/collective"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
)

// staticWay does the same as the store by a collective operation, whose schedule is set
// before it begins: on whole vectors, as MPI's libraries do it, or as the library chooses. Its inputs are
// written before each operation, as objects are put.
func (b *bench) staticWay(ctx context.Context, algorithm string, count int) (objectWay, error) {
	what, _ := b.Kind.Collective()
	types := collective.Dtypes()
	c := &collective.Spec{What: what, Algorithm: algorithm, Op: collectives.Sum}
	c.Dtype = types[slices.IndexFunc(types, func(d collective.DType) bool { return d.Name == "float32" })]
	if algorithm != collective.Auto {
		c.Segments = 1
	}
	bytes := uint64(count * elementBytes)
	if what.Blockwise() { // an object of each rank
		bytes *= uint64(b.P.Size())
	}
	k, err := c.Open(ctx, b.P, c.Shape(b.P.Size(), bytes))
	if err != nil {
		return objectWay{}, err
	}
	number := 0
	return objectWay{
		impl: report.ImplStatic, algorithm: algorithm, timed: b.Kind.timed(int(b.P.Rank())), arrives: b.Options.Arrive,
		fill: func(n int) { number = n },
		// The store reads objects that were put just before, and that are not left in caches by an earlier operation.
		before:  func(context.Context) error { k.Own.Fill(number); return nil },
		once:    k.Once,
		after:   func(context.Context) error { return nil },
		check:   func() error { return k.Own.Check(number) },
		release: k.Release,
	}, nil
}
