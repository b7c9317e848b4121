//go:build capi && cgo && linux && !race

package main

import (
	"context"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// timedOut is GASPI_TIMEOUT.
const timedOut = 1

// Calls with GASPI_TEST in a loop allocate nothing while they have not ended.
func TestPollsAllocateNothing(t *testing.T) {
	err := gaspi.Local(t.Context(), 2, gaspi.Config{Notifications: 64}, func(ctx context.Context, p *gaspi.Proc) error {
		if _, err := p.CreateSegment(ctx, 0, 64); err != nil {
			return err
		}
		seg, err := p.Segment(0)
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			if _, err := seg.WaitSome(ctx, 1, 1); err != nil {
				return err
			}
			return p.Barrier(ctx, p.World())
		}
		library.open(p)
		library.segments[0].Store(seg)
		for _, c := range []struct {
			name string
			call func() int32
		}{
			{"ggo_waitsome", func() int32 { return ggo_waitsome(0, 0, 8, nil, 0) }},
			{"ggo_passive_receive", func() int32 { return ggo_passive_receive(0, 0, nil, 8, 0) }},
			{"ggo_barrier", func() int32 { return ggo_barrier(0, nil, 0) }},
		} {
			if allocs := testing.AllocsPerRun(200, func() {
				if rc := c.call(); rc != timedOut {
					t.Errorf("%s: %d, want GASPI_TIMEOUT", c.name, rc)
				}
			}); allocs != 0 {
				t.Errorf("%s: %v allocations", c.name, allocs)
			}
		}
		if err := p.MustQueue(0).Notify(seg.At(1, 0), gaspi.Notification{ID: 1, Value: 1}); err != nil {
			return err
		}
		return p.Barrier(ctx, p.World())
	})
	if err != nil {
		t.Fatal(err)
	}
}
