package gaspi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Rank 0 writes to rank 1 as code in another language does.
func ExampleMapping() {
	err := gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 64)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			peer, ok := p.Mapping(1, seg.ID())
			if !ok || peer.Live.Load() != peer.Generation {
				return fmt.Errorf("rank 1 cannot be addressed")
			}
			copy(peer.Data, "hello")
			peer.Words[7].Store(1)
			if peer.Wake.Load()&1 == 0 { // nobody sleeps
				return p.Barrier(ctx, p.World())
			}
			// A sleeper is another process in general, and is woken by the futex; here a queue does it.
			if err := p.MustQueue(0).Notify(seg.At(1, 0), gaspi.Notification{ID: 7, Value: 1}); err != nil {
				return err
			}
			return p.Barrier(ctx, p.World())
		}
		if _, err := seg.WaitSome(ctx, 7, 1); err != nil {
			return err
		}
		fmt.Println(string(seg.Bytes()[:5]))
		return p.Barrier(ctx, p.World())
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: hello
}
