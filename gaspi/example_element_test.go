package gaspi_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// fill sets each element of a segment to x.
func fill[T gaspi.Element](seg *gaspi.Segment, x T) error {
	size := uint64(binary.Size(x))
	all, err := gaspi.View[T](seg, 0, int(seg.Size()/size))
	for i := range all {
		all[i] = x
	}
	return err
}

// A function for segments of any type of element.
func ExampleElement() {
	err := gaspi.Local(context.Background(), 1, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 16)
		if err != nil {
			return err
		}
		if err := fill(seg, int32(7)); err != nil {
			return err
		}
		sevens, err := gaspi.View[int32](seg, 0, 4)
		fmt.Println(sevens)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// [7 7 7 7]
}
