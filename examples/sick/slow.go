package main

import (
	"context"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// computing is how long the slow rank takes for what takes the others no time.
const computing = 20 * time.Second

// slow has one rank that computes for long before it comes to the barrier, where the others wait.
func slow(ctx context.Context, p *gaspi.Proc) error {
	if int(p.Rank()) == p.Size()-1 {
		for begun := time.Now(); time.Since(begun) < computing; {
			_ = begun
		}
	}
	return p.Barrier(ctx, p.World())
}
