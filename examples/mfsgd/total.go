package main

import (
	"context"

	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/mf"
	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/ratings"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// total combines the values of all ranks in place. The runtime's own allreduce
// takes a few hundred elements at a time, which is enough for what is needed
// once per run.
func total[T gaspi.Number](ctx context.Context, p *gaspi.Proc, values []T, op gaspi.Op) error {
	most := p.Config().AllReduceElements
	for len(values) > 0 {
		n := min(most, len(values))
		if err := gaspi.AllReduce(ctx, p.World(), values[:n], values[:n], op); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}

// A census is what all ranks know about the whole set of ratings.
type census struct {
	facts          mf.Facts
	train, heldOut int64
}

// count takes the census.
func count(ctx context.Context, p *gaspi.Proc, shard *ratings.Shard) (census, error) {
	c := census{facts: mf.Facts{ItemCount: make([]int64, shard.Items)}}
	var halves int64
	for i, item := range shard.Train.Item {
		c.facts.ItemCount[item]++
		halves += int64(shard.Train.Half[i])
	}
	sums := []int64{halves, int64(shard.Train.Len()), int64(shard.Held.Len())}
	if err := total(ctx, p, sums, gaspi.Sum); err != nil {
		return c, err
	}
	if err := total(ctx, p, c.facts.ItemCount, gaspi.Sum); err != nil {
		return c, err
	}
	c.train, c.heldOut = sums[1], sums[2]
	c.facts.Mean = float64(sums[0]) / 2 / float64(max(c.train, 1))
	return c, nil
}
