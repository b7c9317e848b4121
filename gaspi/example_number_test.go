package gaspi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// spread returns the greatest number of all members less the smallest.
func spread[T gaspi.Number](ctx context.Context, g *gaspi.Group, x T) (T, error) {
	var least, most [1]T
	if err := gaspi.AllReduce(ctx, g, []T{x}, least[:], gaspi.Min); err != nil {
		return 0, err
	}
	err := gaspi.AllReduce(ctx, g, []T{x}, most[:], gaspi.Max)
	return most[0] - least[0], err
}

// A collective function for numbers of any type.
func ExampleNumber() {
	err := gaspi.Local(context.Background(), 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		d, err := spread(ctx, p.World(), 0.5*float64(p.Rank()))
		if p.Rank() == 0 {
			fmt.Println(d)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1
}
