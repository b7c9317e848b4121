package collectives_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// on runs n ranks as goroutines of this process, each with a team of all. In a program that
// gaspi-run starts, gaspi.Init returns the rank.
func on(n int, rank func(ctx context.Context, t *collectives.Team) error) {
	err := gaspi.Local(context.Background(), n, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		t, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
		if err != nil {
			return err
		}
		if err := rank(ctx, t); err != nil {
			return err
		}
		if err := collectives.Barrier(ctx, t); err != nil {
			return err
		}
		return t.Close()
	})
	if err != nil {
		log.Fatal(err)
	}
}

// Every rank has the sum of all.
func ExampleAllReduce() {
	on(3, func(ctx context.Context, t *collectives.Team) error {
		x := []float64{1, float64(t.Rank())}
		if err := collectives.AllReduce(ctx, t, x, collectives.Sum); err != nil {
			return err
		}
		if t.Rank() == 2 {
			fmt.Println(x)
		}
		return nil
	})
	// Output:
	// [3 3]
}

// Values of any type are combined by a function, here in the order of the ranks.
func ExampleFunc() {
	type span struct{ from, to int32 }
	on(4, func(ctx context.Context, t *collectives.Team) error {
		x := []span{{int32(t.Rank()), int32(t.Rank()) + 1}}
		join := func(dst, a, b []span) {
			for i := range dst {
				dst[i] = span{a[i].from, b[i].to}
			}
		}
		if err := collectives.AllReduceFunc(ctx, t, x, join, true); err != nil {
			return err
		}
		if t.Rank() == 1 {
			fmt.Println(x)
		}
		return nil
	})
	// Output:
	// [{0 4}]
}

// The smallest value of all ranks, and where it is.
func ExampleLoc() {
	on(4, func(ctx context.Context, t *collectives.Team) error {
		x := []collectives.Loc[float32]{{Value: []float32{3, 1, 4, 1}[t.Rank()], Index: int64(t.Rank())}}
		if err := collectives.AllReduce(ctx, t, x, collectives.MinLoc); err != nil {
			return err
		}
		if t.Rank() == 0 {
			fmt.Printf("%v at rank %d\n", x[0].Value, x[0].Index)
		}
		return nil
	})
	// Output:
	// 1 at rank 1
}

// Rank 1 sends to all.
func ExampleBroadcast() {
	on(4, func(ctx context.Context, t *collectives.Team) error {
		x := make([]byte, 5)
		if t.Rank() == 1 {
			copy(x, "hello")
		}
		got, err := collectives.Broadcast(ctx, t, 1, x)
		if err != nil {
			return err
		}
		if t.Rank() == 3 {
			fmt.Printf("%s, %d of %d elements\n", x, got.Elements, got.Of)
		}
		return nil
	})
	// Output:
	// hello, 5 of 5 elements
}

// Blocks of different lengths: rank r has r+1 elements, and all get those of all.
func ExampleAllGatherV() {
	on(3, func(ctx context.Context, t *collectives.Team) error {
		own := make([]int16, t.Rank()+1)
		for i := range own {
			own[i] = int16(10*t.Rank() + i)
		}
		all := make([]int16, 1+2+3)
		if err := collectives.AllGatherV(ctx, t, all, own, []int{1, 2, 3}); err != nil {
			return err
		}
		if t.Rank() == 0 {
			fmt.Println(all)
		}
		return nil
	})
	// Output:
	// [0 10 11 20 21 22]
}

// An operation goes on while the program does something else between calls of Test, and Wait
// ends it.
func ExampleStart() {
	on(2, func(ctx context.Context, t *collectives.Team) error {
		x := []int32{int32(1 + t.Rank())}
		h, err := collectives.Start(ctx, t, collectives.AllReduceTask(x, collectives.Prod))
		if err != nil {
			return err
		}
		// The buffer belongs to the operation until then.
		if err := h.Wait(ctx); err != nil {
			return err
		}
		if t.Rank() == 0 {
			fmt.Println(x)
		}
		return nil
	})
	// Output:
	// [2]
}

// A plan chooses and prepares once, for a buffer that is reduced again and again.
func ExampleNewPlan() {
	on(2, func(ctx context.Context, t *collectives.Team) error {
		x, err := collectives.Alloc[int64](ctx, t, 1000) // memory that others write to: nothing is copied
		if err != nil {
			return err
		}
		plan, err := collectives.NewPlan(ctx, t, collectives.AllReduceTask(x, collectives.Max))
		if err != nil {
			return err
		}
		for i := range 3 {
			x[0] = int64(10*i + t.Rank())
			if err := plan.Run(ctx); err != nil {
				return err
			}
		}
		if t.Rank() == 0 {
			fmt.Println(x[0])
		}
		if err := plan.Close(); err != nil {
			return err
		}
		return collectives.Release(ctx, t, x)
	})
	// Output:
	// 21
}

// A grid of 2 x 3 ranks has a team for each row.
func ExampleTeam_Split() {
	const columns = 3
	on(2*columns, func(ctx context.Context, t *collectives.Team) error {
		row, err := t.Split(ctx, t.Rank()/columns, t.Rank())
		if err != nil {
			return err
		}
		sum := []int{t.Rank()}
		if err := collectives.AllReduce(ctx, row, sum, collectives.Sum); err != nil {
			return err
		}
		if t.Rank() == 5 {
			fmt.Println(row.Ranks(), sum)
		}
		return row.Close()
	})
	// Output:
	// [3 4 5] [12]
}
