package gaspi_test

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// All ranks post to one notification, which adds their values up: rank 0 waits once for all.
func ExampleNotification() {
	check(gaspi.Local(context.Background(), 4, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 8)
		if err != nil {
			return err
		}
		ready := gaspi.Notification{ID: 0, Value: 1, Add: true}
		if err := p.MustQueue(0).Notify(seg.At(0, 0), ready); err != nil {
			return err
		}
		if p.Rank() == 0 {
			if err := seg.WaitUntil(ctx, 0, gaspi.AtLeast, gaspi.Value(p.Size())); err != nil {
				return err
			}
			count, err := seg.Reset(0)
			if err != nil {
				return err
			}
			fmt.Println(count, "ranks are ready")
		}
		return p.Barrier(ctx, p.World()) // rank 0 waits for ranks that have not left
	}))
	// Output:
	// 4 ranks are ready
}

// Each rank has a notification of its own at rank 0, which takes results as they come and knows
// by the id whose they are.
func ExampleNotificationID() {
	check(gaspi.Local(context.Background(), 4, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 4*8)
		if err != nil {
			return err
		}
		results, err := gaspi.View[int64](seg, 0, 4)
		if err != nil {
			return err
		}
		if me := p.Rank(); me != 0 {
			at := uint64(me) * 8
			results[me] = int64(me) * 100
			own, err := seg.Span(at, 8)
			if err != nil {
				return err
			}
			mine := gaspi.Notification{ID: gaspi.NotificationID(me), Value: 1}
			if err := p.MustQueue(0).WriteNotify(seg.At(0, at), own, mine); err != nil {
				return err
			}
			return p.Barrier(ctx, p.World())
		}
		var sum int64
		for range 3 {
			id, err := seg.WaitSome(ctx, 1, 3)
			if err != nil {
				return err
			}
			if _, err := seg.Reset(id); err != nil {
				return err
			}
			sum += results[id]
		}
		fmt.Println("sum", sum)
		return p.Barrier(ctx, p.World())
	}))
	// Output:
	// sum 600
}

// The value of a notification tells the receiver how many bytes have come.
func ExampleValue() {
	check(gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 64)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			n := copy(seg.Bytes(), "a short text")
			text, err := seg.Span(0, uint64(n))
			if err != nil {
				return err
			}
			q := p.MustQueue(0)
			if err := q.WriteNotify(seg.At(1, 0), text, gaspi.Notification{ID: 0, Value: gaspi.Value(n)}); err != nil {
				return err
			}
			return q.Wait(ctx)
		}
		if _, err := seg.WaitSome(ctx, 0, 1); err != nil {
			return err
		}
		n, err := seg.Reset(0)
		if err != nil {
			return err
		}
		fmt.Printf("%d bytes: %s\n", n, seg.Bytes()[:n])
		return nil
	}))
	// Output:
	// 12 bytes: a short text
}

// A goroutine in the background waits for either of two notifications.
func ExampleWaitMode() {
	check(gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 64)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			return p.MustQueue(0).Notify(seg.At(1, 0), gaspi.Notification{ID: 9, Value: 5})
		}
		background := make(chan error)
		go func() {
			work := func() bool { return seg.Peek(3) != 0 || seg.Peek(9) != 0 }
			background <- seg.WaitFunc(ctx, work, gaspi.ThroughLosses, gaspi.Asleep)
		}()
		if err := <-background; err != nil {
			return err
		}
		fmt.Println(seg.Peek(3), seg.Peek(9))
		return nil
	}))
	// Output:
	// 0 5
}
