package main

import (
	"context"
	"os"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// dead has rank 1 die in the middle of the job, while the others wait for it.
func dead(ctx context.Context, p *gaspi.Proc) error {
	if err := p.Barrier(ctx, p.World()); err != nil {
		return err
	}
	if p.Rank() == 1 {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return self.Kill()
	}
	return p.Barrier(ctx, p.World())
}
