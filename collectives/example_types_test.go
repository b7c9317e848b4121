package collectives_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
)

// A team may number the members of a group anew.
func ExampleConfig() {
	cfg := collectives.Config{Order: []gaspi.Rank{2, 0, 1}}
	err := gaspi.Local(context.Background(), 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		t, err := collectives.NewTeam(ctx, p.World(), cfg)
		if err != nil {
			return err
		}
		if p.Rank() == 2 {
			fmt.Println("rank 2 is number", t.Rank(), "of", t.Ranks())
		}
		return t.Close()
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// rank 2 is number 0 of [2 0 1]
}

// Tasks of several kinds are carried out alike.
func ExampleTask() {
	on(2, func(ctx context.Context, t *collectives.Team) error {
		x, y := []float32{float32(t.Rank())}, []int{t.Rank() + 1, 5}
		for _, task := range []collectives.Task{
			collectives.BroadcastTask(1, x),
			collectives.AllReduceTask(y, collectives.Max),
		} {
			if err := collectives.Do(ctx, t, task); err != nil {
				return fmt.Errorf("%s: %w", task.String(), err)
			}
		}
		if t.Rank() == 0 {
			fmt.Println(x, y)
		}
		return nil
	})
	// Output:
	// [1] [2 5]
}

// Options are the same at all members. Here they force an algorithm, and a vector in one piece.
func ExampleOption() {
	on(4, func(ctx context.Context, t *collectives.Team) error {
		x, err := collectives.Alloc[float64](ctx, t, 1000)
		if err != nil {
			return err
		}
		opts := []collectives.Option{collectives.Algorithm("ring"), collectives.Concurrency(1)}
		plan, err := collectives.PlanAllReduce(ctx, t, x, collectives.Sum, opts...)
		if err != nil {
			return err
		}
		if t.Rank() == 0 {
			fmt.Println(plan.Algorithm())
		}
		if err := plan.Run(ctx); err != nil {
			return err
		}
		return plan.Close()
	})
	// Output:
	// ringx1
}

// The candidates for a call, with the times that the model predicts. The one that the call
// demands is chosen.
func ExampleCandidate() {
	on(4, func(_ context.Context, t *collectives.Team) error {
		x := make([]float64, 1000)
		candidates, err := collectives.Explain(t, collectives.AllReduceTask(x, collectives.Sum, collectives.Algorithm("binomial")))
		if err != nil || t.Rank() != 0 {
			return err
		}
		for _, c := range candidates {
			if c.Chosen {
				fmt.Println(c.Algorithm, "is chosen, and takes time:", c.Seconds > 0)
			}
		}
		return nil
	})
	// Output:
	// binomial staged is chosen, and takes time: true
}

// A model of a slow network, for a job on such a network: Config.Machine takes it.
func ExampleMachine() {
	network, err := emulation.Parse("latency=1ms,bandwidth=10MB/s")
	if err != nil {
		log.Fatal(err)
	}
	m := collectives.DefaultMachine()
	collectives.OnNetwork(&m, network)
	fmt.Println(m.Bandwidth/1e6, "MB/s")
	// Output:
	// 10 MB/s
}

// A vector is coded for the wire, and no element changes by more than a bound.
func ExampleCompression() {
	const bound = 0.01
	on(2, func(ctx context.Context, t *collectives.Team) error {
		x := make([]float32, 1000)
		if t.Rank() == 0 {
			for i := range x {
				x[i] = float32(math.Sin(float64(i)))
			}
		}
		coded := collectives.Compress(collectives.ErrorBound(bound))
		if _, err := collectives.Broadcast(ctx, t, 0, x, coded); err != nil {
			return err
		}
		if t.Rank() == 1 {
			fmt.Println(math.Abs(float64(x[10])-math.Sin(10)) < 1.001*bound)
		}
		return nil
	})
	// Output:
	// true
}

// One operation after the other is applied to numbers of all ranks.
func ExampleOp() {
	on(3, func(ctx context.Context, t *collectives.Team) error {
		for _, op := range []collectives.Op{collectives.Min, collectives.Max, collectives.Or} {
			x := []uint8{1 << t.Rank()}
			if err := collectives.AllReduce(ctx, t, x, op); err != nil {
				return err
			}
			if t.Rank() == 0 {
				fmt.Println(op, x[0])
			}
		}
		return nil
	})
	// Output:
	// min 1
	// max 4
	// or 7
}

// Numbers of half the size of a float32 are half the bytes to send.
func ExampleFloat16() {
	on(3, func(ctx context.Context, t *collectives.Team) error {
		x := []collectives.Float16{collectives.ToFloat16(0.5)}
		if err := collectives.AllReduce(ctx, t, x, collectives.Sum); err != nil {
			return err
		}
		if t.Rank() == 0 {
			fmt.Println(x[0].Float32())
		}
		return nil
	})
	// Output:
	// 1.5
}

// A BFloat16 has the range of a float32 and 8 bits of precision.
func ExampleBFloat16() {
	on(2, func(ctx context.Context, t *collectives.Team) error {
		x := []collectives.BFloat16{collectives.ToBFloat16(257)}
		if err := collectives.AllReduce(ctx, t, x, collectives.Max); err != nil {
			return err
		}
		if t.Rank() == 0 {
			fmt.Println(x[0].Float32())
		}
		return nil
	})
	// Output:
	// 256
}

// A team whose operations go on in calls of the team alone, and start no goroutine.
func ExampleProgress() {
	err := gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		t, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Progress: collectives.Caller})
		if err != nil {
			return err
		}
		x := []int32{int32(1 + t.Rank())}
		h, err := collectives.Start(ctx, t, collectives.AllReduceTask(x, collectives.Sum))
		if err != nil {
			return err
		}
		for done := false; !done; { // between pieces of work
			if done, err = h.Test(); err != nil {
				return err
			}
		}
		if t.Rank() == 0 {
			fmt.Println(x)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// [3]
}

// Small vectors of a program that come one after the other, as gradients do, are reduced together.
func ExampleBucket() {
	on(2, func(ctx context.Context, t *collectives.Team) error {
		bucket, err := collectives.NewBucket[float32](ctx, t, collectives.Sum, collectives.BucketConfig{Size: 1 << 20})
		if err != nil {
			return err
		}
		gradients := [][]float32{{1, 2}, {3}, {4, 5, 6}}
		for _, g := range gradients {
			if _, err := bucket.Add(g); err != nil {
				return err
			}
		}
		if err := bucket.Wait(ctx); err != nil { // the vectors may be used again
			return err
		}
		if t.Rank() == 0 {
			fmt.Println(gradients)
		}
		return bucket.Close(ctx)
	})
	// Output:
	// [[2 4] [6] [8 10 12]]
}

// An entry is waited for by itself.
func ExampleBucketEntry() {
	on(2, func(ctx context.Context, t *collectives.Team) error {
		bucket, err := collectives.NewBucket[int64](ctx, t, collectives.Max, collectives.BucketConfig{})
		if err != nil {
			return err
		}
		x := []int64{int64(t.Rank())}
		entry, err := bucket.Add(x)
		if err != nil {
			return err
		}
		if err := entry.Wait(ctx); err != nil {
			return err
		}
		if t.Rank() == 0 {
			fmt.Println(x)
		}
		return bucket.Close(ctx)
	})
	// Output:
	// [1]
}

// A vector that fills an operation, or has waited for a tenth of a second, waits no longer.
func ExampleBucketConfig() {
	on(2, func(ctx context.Context, t *collectives.Team) error {
		limits := collectives.BucketConfig{Size: 8, Delay: 100 * time.Millisecond}
		bucket, err := collectives.NewBucket[int64](ctx, t, collectives.Sum, limits)
		if err != nil {
			return err
		}
		x := []int64{20, 1}
		entry, err := bucket.Add(x)
		if err != nil {
			return err
		}
		<-entry.Done()
		if t.Rank() == 0 {
			fmt.Println(x)
		}
		return bucket.Close(ctx)
	})
	// Output:
	// [40 2]
}
