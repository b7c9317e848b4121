package faults

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/faulty"
)

// mostRefused is how many writes of a call are refused, one in each job, at most.
const mostRefused = 24

// TestRefusedWriteEndsTheCall has one write of rank 0 to rank 1 refused, as one is that arrives
// after its segment was deleted, while three ranks make calls in which each needs all others. Rank 0
// ends with the error of that write, in the call in which it was or a later one, and so the job: nobody
// waits for ever for a write that did not happen.
func TestRefusedWriteEndsTheCall(t *testing.T) {
	for name, create := range makers {
		t.Run(name, func(t *testing.T) {
			for skip := range mostRefused {
				synctest.Test(t, func(t *testing.T) { refuseOne(t, create, skip) })
			}
		})
	}
}

// refuseOne lets skip writes of rank 0 to rank 1 pass once the object is made, and refuses the next.
func refuseOne(t *testing.T, create func(ctx context.Context, g *gaspi.Group) (made, error), skip int) {
	net := faulty.New(faulty.Config{Hosts: []int{0, 1, 2}, Latency: time.Millisecond, Silence: time.Hour, Seed: uint64(skip)})
	ctx, cancel := context.WithTimeout(transport.WithNetwork(t.Context(), net), time.Hour)
	defer cancel()
	var passed atomic.Int64
	err := gaspi.Local(ctx, 3, gaspi.Config{Spin: -1, Yield: -1}, func(ctx context.Context, p *gaspi.Proc) error {
		x, err := create(ctx, p.World())
		if err != nil {
			return err
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		if p.Rank() == 0 {
			own := gaspi.SegmentID(p.Config().Segments) // of the runtime, as all above
			net.Refuse(func(from, to gaspi.Rank, id gaspi.SegmentID) bool {
				return from == 0 && to == 1 && id < own && passed.Add(1) == int64(skip)+1
			})
		}
		for range 4 * mostRefused {
			if err = x.use(ctx); err != nil {
				break
			}
			time.Sleep(200 * time.Millisecond) // sleep: by the clock of the bubble
		}
		if p.Rank() == 0 && !errors.Is(err, gaspi.ErrNoSegment) {
			t.Errorf("after %d writes, rank 0: %v; want ErrNoSegment", skip, err)
		}
		return err
	})
	if passed.Load() <= int64(skip) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after %d writes, of which there were %d: %v", skip, passed.Load(), err)
	}
}
