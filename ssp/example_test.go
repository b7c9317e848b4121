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

// With a slack of 0 a result has the contributions of one call alone, as the clocks in it say.
func ExampleResult() {
	err := gaspi.Local(context.Background(), 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		r, err := ssp.New[int64](ctx, p.World(), 2, ssp.Max, 0)
		if err != nil {
			return err
		}
		for call := range 3 {
			got, err := r.AllReduce(ctx, []int64{int64(p.Rank()), int64(call)})
			if err != nil {
				return err
			}
			if p.Rank() == 0 {
				fmt.Println(got.Values, "of calls", got.Oldest, "to", got.Newest)
			}
		}
		return r.Close(ctx)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// [2 0] of calls 1 to 1
	// [2 1] of calls 2 to 2
	// [2 2] of calls 3 to 3
}

// The program chooses the segment of a reduction, and its own have other numbers.
func ExampleOption() {
	err := gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		r, err := ssp.New[float32](ctx, p.World(), 10, ssp.Sum, 1, ssp.WithSegment(7))
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			fmt.Println("segments", p.Segments())
		}
		return r.Close(ctx)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// segments [7]
}
