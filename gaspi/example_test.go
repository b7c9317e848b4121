package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync/atomic"

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
	q := p.MustQueue(0)

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

// The sum of one number of each rank.
func ExampleLocal() {
	check(gaspi.Local(context.Background(), 4, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		x := []int64{int64(p.Rank())}
		if err := gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum); err != nil {
			return err
		}
		if p.Rank() == 0 {
			fmt.Println("the ranks of", p.Size(), "add up to", x[0])
		}
		return nil
	}))
	// Output:
	// the ranks of 4 add up to 6
}

// All ranks take work from one counter, which lies at rank 0.
func ExampleProc_FetchAdd() {
	const tasks = 20
	var done [tasks]atomic.Bool
	check(gaspi.Local(context.Background(), 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 8)
		if err != nil {
			return err
		}
		for {
			task, err := p.FetchAdd(ctx, seg.At(0, 0), 1)
			if err != nil {
				return err
			}
			if task >= tasks {
				return p.Barrier(ctx, p.World())
			}
			if done[task].Swap(true) {
				return fmt.Errorf("task %d was taken twice", task)
			}
		}
	}))
	n := 0
	for i := range done {
		if done[i].Load() {
			n++
		}
	}
	fmt.Println(n, "tasks, each done once")
	// Output:
	// 20 tasks, each done once
}

// Rank 1 reads the memory of rank 0, which takes no part.
func ExampleQueue_Read() {
	check(gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 16)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			copy(seg.Bytes(), "from rank 0")
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		if p.Rank() == 1 {
			to, err := seg.Span(0, 11)
			if err != nil {
				return err
			}
			q := p.MustQueue(0)
			if err := q.Read(to, seg.At(0, 0)); err != nil {
				return err
			}
			if err := q.Wait(ctx); err != nil { // the bytes are here when it returns
				return err
			}
			fmt.Println(string(to.Bytes()))
		}
		return p.Barrier(ctx, p.World()) // rank 0 keeps its memory until then
	}))
	// Output:
	// from rank 0
}

// A column of a matrix, which does not lie in one piece, goes out as a list of transfers with one
// notification, which arrives after all of them.
func ExampleTransfer() {
	const rows, columns = 3, 4
	check(gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, rows*columns*8)
		if err != nil {
			return err
		}
		m, err := gaspi.View[int64](seg, 0, rows*columns)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			var column []gaspi.Transfer
			for row := range rows {
				at := uint64(row*columns+2) * 8
				m[row*columns+2] = int64(10 + row)
				from, err := seg.Span(at, 8)
				if err != nil {
					return err
				}
				column = append(column, gaspi.Transfer{Local: from, Remote: seg.At(1, at)})
			}
			q := p.MustQueue(0)
			if err := q.WriteListNotify(column, seg.At(1, 0), gaspi.Notification{ID: 7, Value: 1}); err != nil {
				return err
			}
			if err := q.Wait(ctx); err != nil {
				return err
			}
		} else {
			if err := seg.WaitUntil(ctx, 7, gaspi.Equal, 1); err != nil {
				return err
			}
			fmt.Println(m)
		}
		return p.Barrier(ctx, p.World())
	}))
	// Output:
	// [0 0 10 0 0 0 11 0 0 0 12 0]
}

// A message that names no memory of the receiver.
func ExampleProc_PassiveSend() {
	check(gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 64)
		if err != nil {
			return err
		}
		text, err := seg.Span(0, 5)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			copy(text.Bytes(), "hello")
			return p.PassiveSend(ctx, 1, text)
		}
		from, n, err := p.PassiveReceive(ctx, text)
		if err != nil {
			return err
		}
		fmt.Printf("%d bytes from rank %d: %s\n", n, from, text.Bytes())
		return nil
	}))
	// Output:
	// 5 bytes from rank 0: hello
}

// A group of the even ranks has a barrier and a sum of its own.
func ExampleGroup() {
	check(gaspi.Local(context.Background(), 5, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank()%2 == 1 {
			return nil
		}
		g, err := p.NewGroup(0, 2, 4)
		if err != nil {
			return err
		}
		if err := g.Commit(ctx); err != nil {
			return err
		}
		sum := []int64{0}
		if err := gaspi.AllReduce(ctx, g, []int64{int64(p.Rank())}, sum, gaspi.Sum); err != nil {
			return err
		}
		if p.Rank() == 0 {
			fmt.Println("sum of the even ranks:", sum[0])
		}
		return g.Delete()
	}))
	// Output:
	// sum of the even ranks: 6
}

// A rank dies. Those that wait for it get an error that names it, agree on a group of those
// that are left, and go on.
func ExampleRankError() {
	_ = gaspi.Local(context.Background(), 4, gaspi.Config{KeepGoing: true}, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() == 2 {
			return errors.New("a crash")
		}
		err := p.Barrier(ctx, p.World())
		gone, ok := errors.AsType[*gaspi.RankError](err)
		if !ok {
			return fmt.Errorf("a barrier without rank 2: %w", err)
		}
		if err := p.World().Revoke(err); err != nil { // so that nobody goes on waiting in a call of the old group
			return err
		}
		rest, err := p.World().Shrink(ctx)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			fmt.Printf("rank %d is gone, going on with %v\n", gone.Rank, rest.Ranks())
		}
		return p.Barrier(ctx, rest)
	})
	// Output:
	// rank 2 is gone, going on with [0 1 3]
}

// An atomic of which it is not known yet whether it was applied when the context ended: its
// outcome is asked for, and it is not made again.
func ExampleInDoubtError() {
	take := func(ctx context.Context, p *gaspi.Proc, at gaspi.Remote) (uint64, error) {
		ticket, err := p.FetchAdd(ctx, at, 1)
		if doubt, ok := errors.AsType[*gaspi.InDoubtError](err); ok {
			return doubt.Wait(context.WithoutCancel(ctx))
		}
		return ticket, err
	}
	check(gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 8)
		if err != nil {
			return err
		}
		if _, err := take(ctx, p, seg.At(0, 0)); err != nil {
			return err
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		if p.Rank() == 0 {
			tickets, err := gaspi.View[uint64](seg, 0, 1)
			if err != nil {
				return err
			}
			fmt.Println(tickets[0], "tickets")
		}
		return nil
	}))
	// Output:
	// 2 tickets
}

// The counters of a rank tell what it has done.
func ExampleStats() {
	check(gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 1<<10)
		if err != nil {
			return err
		}
		p.ResetStats()
		if p.Rank() == 0 {
			all, err := seg.Span(0, 1<<10)
			if err != nil {
				return err
			}
			q := p.MustQueue(0)
			for range 3 {
				if err := q.Write(seg.At(1, 0), all); err != nil {
					return err
				}
			}
			if err := q.Wait(ctx); err != nil {
				return err
			}
			s := p.Stats()
			fmt.Println(s.Writes, "writes of", s.BytesWritten, "bytes in all")
		}
		return p.Barrier(ctx, p.World())
	}))
	// Output:
	// 3 writes of 3072 bytes in all
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
