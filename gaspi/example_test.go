package gaspi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A halo exchange: ranks in a ring hold one number each, and each step replaces it by a mean
// with both neighbours, so that all come to hold the mean of all. Local runs the ranks as
// goroutines of this process; in a program that gaspi-run starts, Init returns p.
func Example() {
	check(gaspi.Local(context.Background(), 4, gaspi.Config{}, halo))
	// Unordered output:
	// rank 0 of 4 has 1.500
	// rank 1 of 4 has 1.500
	// rank 2 of 4 has 1.500
	// rank 3 of 4 has 1.500
}

func halo(ctx context.Context, p *gaspi.Proc) error {
	seg, err := p.CreateSegment(ctx, 0, 5*8) // 40 bytes at every rank, which all may write to
	check(err)
	cell, err := gaspi.View[float64](seg, 0, 5) // cell[0] is our own, the others are what came
	check(err)
	own, err := seg.Span(0, 8) // the bytes of cell[0], which we send
	check(err)
	n := gaspi.Rank(p.Size())
	left, right := (p.Rank()+n-1)%n, (p.Rank()+1)%n
	q := p.Queue(0)

	cell[0] = float64(p.Rank())
	for step := range 1000 {
		in := uint64(1 + 2*(step%2)) // cells 1 and 2, then 3 and 4: a neighbour may be one step ahead
		id := gaspi.NotificationID(in)
		check(q.WriteNotify(seg.At(right, in*8), own, gaspi.Notification{ID: id, Value: 1}))
		check(q.WriteNotify(seg.At(left, (in+1)*8), own, gaspi.Notification{ID: id + 1, Value: 1}))
		check(seg.WaitAll(ctx, id, 2)) // sleeps until both neighbours' numbers are here
		for _, each := range []gaspi.NotificationID{id, id + 1} {
			_, err := seg.Reset(each) // so that it can be waited for again
			check(err)
		}
		check(q.Wait(ctx)) // cell[0] has been read, and the queue has room again
		cell[0] = (cell[in] + 2*cell[0] + cell[in+1]) / 4
	}
	check(p.Barrier(ctx, p.World())) // nobody leaves while others still need it
	fmt.Printf("rank %d of %d has %.3f\n", p.Rank(), p.Size(), cell[0])
	return nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
