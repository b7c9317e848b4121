// Quickstart is the smallest one-sided program: each rank writes a number into
// the memory of the next one, and the notification says that it has arrived.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("quickstart: ")
	noArguments()
	ctx := context.Background()
	p, err := gaspi.Init(ctx, gaspi.Config{}) // joins the job that gaspi-run started
	check(err)
	defer p.Close()

	seg, err := p.CreateSegment(ctx, 0, 16) // 16 bytes at every rank, writable by all
	check(err)
	box, err := gaspi.View[int64](seg, 0, 2) // box[0] is what we send, box[1] what we get
	check(err)
	src, err := seg.Span(0, 8)
	check(err)

	box[0] = 100 + int64(p.Rank())
	next := (p.Rank() + 1) % gaspi.Rank(p.Size())
	check(p.MustQueue(0).WriteNotify(seg.At(next, 8), src, gaspi.Notification{ID: 0, Value: 1}))

	_, err = seg.WaitSome(ctx, 0, 1) // sleeps until our neighbour has written
	check(err)
	_, err = fmt.Printf("rank %d of %d got %d\n", p.Rank(), p.Size(), box[1])
	check(err)
	check(p.Barrier(ctx, p.World())) // nobody leaves while others still write
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
