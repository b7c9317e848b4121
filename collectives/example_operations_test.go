package collectives_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// Each member has several vectors, as a process with several devices, and gets a block of the sum of all.
func ExampleReduceScatterMany() {
	on(2, func(ctx context.Context, team *collectives.Team) error {
		srcs, sum := [][]int32{{1, 2}, {10, 20}}, make([]int32, 1)
		if err := collectives.ReduceScatterMany(ctx, team, sum, srcs, collectives.Sum); err != nil {
			return err
		}
		if team.Rank() == 1 {
			fmt.Println(sum)
		}
		return nil
	})
	// Output:
	// [44]
}

// Blocks of all members have the same number of elements, here one.
func ExampleAllToAll() {
	on(3, func(ctx context.Context, team *collectives.Team) error {
		own, sum := []int64{int64(team.Rank() + 1)}, []int64{0}
		all, to := make([]int64, team.Size()), make([]int64, team.Size())
		err := errors.Join(
			collectives.AllGather(ctx, team, all, own),                      // all is 1 2 3
			collectives.AllToAll(ctx, team, to, all),                        // block r of to is block team.Rank() of all at rank r
			collectives.Gather(ctx, team, 0, to, own),                       // to is 1 2 3 at rank 0
			collectives.Scatter(ctx, team, 0, own, to),                      // own is what it was
			collectives.ReduceScatter(ctx, team, sum, all, collectives.Sum), // sum is 3 times own
			collectives.Scan(ctx, team, sum, collectives.Sum),               // sum is 3, 9 or 18
		)
		if err != nil {
			return err
		}
		if _, err := collectives.Broadcast(ctx, team, 1, all); err != nil { // all is equal already
			return err
		}
		if _, err := collectives.Reduce(ctx, team, 2, sum, collectives.Sum); err != nil { // sum is 30 at rank 2
			return err
		}
		if team.Rank() == 2 {
			fmt.Println(own, all, sum)
		}
		return nil
	})
	// Output:
	// [3] [1 2 3] [30]
}
