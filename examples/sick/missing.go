package main

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// missing has a rank that waits for a notification which its neighbour, the last rank, forgets.
func missing(ctx context.Context, p *gaspi.Proc) error {
	seg, err := p.CreateSegment(ctx, 0, 8)
	if err != nil {
		return err
	}
	next := (p.Rank() + 1) % gaspi.Rank(p.Size())
	if next != 0 {
		if err := p.MustQueue(0).Notify(seg.At(next, 0), gaspi.Notification{ID: 5, Value: 1}); err != nil {
			return err
		}
	}
	if _, err := seg.WaitSome(ctx, 5, 1); err != nil {
		return err
	}
	return p.Barrier(ctx, p.World())
}
