package main

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// offset has rank 0 write its number behind the end of its neighbour's segment: it counts bytes as if
// they were elements.
func offset(ctx context.Context, p *gaspi.Proc) error {
	seg, err := p.CreateSegment(ctx, 0, 64)
	if err != nil {
		return err
	}
	src, err := seg.Span(0, 8)
	if err != nil {
		return err
	}
	if p.Rank() == 0 {
		const element = 9 // of 8: the last has number 7
		if err := p.MustQueue(0).WriteNotify(seg.At(1, 8*element), src, gaspi.Notification{ID: 0, Value: 1}); err != nil {
			return err
		}
	}
	return p.Barrier(ctx, p.World())
}
