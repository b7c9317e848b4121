package gaspi_test

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// One goroutine of each rank posts, to a queue of its own.
func ExampleQueueOption() {
	check(gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 8)
		if err != nil {
			return err
		}
		queue, err := p.CreateQueue(gaspi.Serialized())
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			if err := queue.Notify(seg.At(1, 0), gaspi.Notification{ID: 0, Value: 42}); err != nil {
				return err
			}
			return queue.Wait(ctx)
		}
		if err := seg.WaitUntil(ctx, 0, gaspi.NotEqual, 0); err != nil {
			return err
		}
		fmt.Println(seg.Peek(0))
		return nil
	}))
	// Output:
	// 42
}
