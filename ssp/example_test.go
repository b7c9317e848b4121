package ssp_test

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// Three ranks add up what they have found so far, in every iteration. With a
// slack of 2, none waits for another unless that is more than two iterations
// behind. Each contributes its total: a contribution that arrives late is
// made up for by the next.
func ExampleNew() {
	err := gaspi.Local(context.Background(), 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		const slack, iterations = 2, 10
		r, err := ssp.New[float64](ctx, p.World(), 1, ssp.Sum, slack)
		if err != nil {
			return err
		}
		total := []float64{0}
		for range iterations {
			total[0] += float64(p.Rank() + 1) // the work of one iteration
			if _, err := r.AllReduce(ctx, total); err != nil {
				return err
			}
		}
		// After slack more calls with the same total, all ranks have the last of each.
		var res ssp.Result[float64]
		for range slack {
			if res, err = r.AllReduce(ctx, total); err != nil {
				return err
			}
		}
		if p.Rank() == 0 {
			fmt.Println("total", res.Values[0])
		}
		return r.Close(ctx)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// total 60
}
