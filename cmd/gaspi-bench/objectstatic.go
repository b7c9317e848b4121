package main

import (
	"context"
	"slices"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
)

// staticWay does the same as the store by a collective operation, whose schedule is set
// before it begins: on whole vectors, as MPI's libraries do it, or as the library chooses.
func (b *bench) staticWay(ctx context.Context, algorithm string, count int) (objectWay, error) {
	what, _ := b.opts.op.object.collective()
	types := dtypes()
	c := &collective{what: what, algorithm: algorithm, op: collectives.Sum}
	c.dtype = types[slices.IndexFunc(types, func(d dtype) bool { return d.name == "float32" })]
	if algorithm != algorithmAuto {
		c.segments = 1
	}
	bytes := uint64(count * objectElement)
	if what.Blockwise() { // an object of each rank
		bytes *= uint64(b.p.Size())
	}
	t, err := b.newTeam(ctx, c)
	if err != nil {
		return objectWay{}, err
	}
	k, err := c.dtype.open(ctx, t, c, c.shape(b.p.Size(), bytes))
	if err != nil {
		return objectWay{}, err
	}
	number := 0
	nothing := func(context.Context) error { return nil }
	return objectWay{
		impl: report.ImplStatic, algorithm: algorithm, timed: b.opts.op.object.timed(int(b.p.Rank())), arrives: b.opts.object.arrive,
		fill:   func(n int) { number = n; k.own.fill(n) },
		before: nothing, once: k.once, after: nothing,
		check: func() error { return k.own.check(number) },
		release: func(ctx context.Context) error {
			if err := k.release(ctx); err != nil {
				return err
			}
			return t.Close()
		},
	}, nil
}
