package main

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// mismatch has rank 2 in a barrier while the others reduce.
func mismatch(ctx context.Context, p *gaspi.Proc) error {
	team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
	if err != nil {
		return err
	}
	if p.Rank() == 2 {
		return p.Barrier(ctx, p.World())
	}
	return collectives.AllReduce(ctx, team, []float64{1}, gaspi.Sum)
}
