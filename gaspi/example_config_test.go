package gaspi_test

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A queue of few entries says that it is full, and Wait gives the entries back.
func ExampleConfig() {
	cfg := gaspi.Config{Queues: 1, QueueDepth: 4, Notifications: 16}
	check(gaspi.Local(context.Background(), 2, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 8)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			full, q := 0, p.MustQueue(0)
			for posted := 0; posted < 10; {
				switch err := q.Notify(seg.At(1, 0), gaspi.Notification{ID: 1, Value: 1, Add: true}); err {
				case nil:
					posted++
				case gaspi.ErrQueueFull:
					full++
					if err := q.Wait(ctx); err != nil {
						return err
					}
				default:
					return err
				}
			}
			fmt.Println("10 posts, and the queue was full", full, "times")
		}
		return p.Barrier(ctx, p.World())
	}))
	// Output:
	// 10 posts, and the queue was full 2 times
}

// The two ranks next to a rank in a ring.
func ExampleRank() {
	check(gaspi.Local(context.Background(), 4, gaspi.Config{}, func(_ context.Context, p *gaspi.Proc) error {
		n := gaspi.Rank(p.Size())
		left, right := (p.Rank()+n-1)%n, (p.Rank()+1)%n
		if p.Rank() == 0 {
			fmt.Println(left, right)
		}
		return nil
	}))
	// Output:
	// 3 1
}

// The least, the greatest and the sum of one number of each rank.
func ExampleOp() {
	check(gaspi.Local(context.Background(), 4, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		for _, op := range []gaspi.Op{gaspi.Min, gaspi.Max, gaspi.Sum} {
			x := []int32{int32(p.Rank()) + 1}
			if err := gaspi.AllReduce(ctx, p.World(), x, x, op); err != nil {
				return err
			}
			if p.Rank() == 0 {
				fmt.Println(op, x[0])
			}
		}
		return nil
	}))
	// Output:
	// min 1
	// max 4
	// sum 10
}

// The transports that ranks can choose on this host.
func ExampleWay() {
	for _, way := range gaspi.Ways() {
		if way.Transport != "rdma" && way.Missing == "" { // rdma depends on the hardware
			fmt.Println(way.Transport)
		}
	}
	// Output:
	// shm
	// tcp
}
