package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/segment"
)

// An array that the program has already becomes a segment, without a copy.
func ExampleSegment() {
	check(gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		x := []float64{float64(p.Rank()), 0.5}
		seg, err := p.UseSegment(ctx, 0, segment.BytesOf(x))
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			first, err := seg.Span(0, 8)
			if err != nil {
				return err
			}
			q := p.MustQueue(0)
			if err := q.WriteNotify(seg.At(0, 8), first, gaspi.Notification{ID: 0, Value: 1}); err != nil {
				return err
			}
			return q.Wait(ctx)
		}
		if _, err := seg.WaitSome(ctx, 0, 1); err != nil {
			return err
		}
		fmt.Println(x)
		return seg.Delete()
	}))
	// Output:
	// [0 1]
}

// Segments of one rank are told apart by numbers, which are the same at all ranks.
func ExampleSegmentID() {
	const (
		input gaspi.SegmentID = iota
		output
	)
	check(gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		if _, err := p.CreateSegment(ctx, input, 1<<20); err != nil {
			return err
		}
		if _, err := p.CreateSegment(ctx, output, 1<<10); err != nil {
			return err
		}
		if p.Rank() == 0 {
			size, _, err := p.RemoteSize(1, output)
			if err != nil {
				return err
			}
			fmt.Println("segments", p.Segments(), "and the output of rank 1 has", size, "bytes")
		}
		return p.Barrier(ctx, p.World())
	}))
	// Output:
	// segments [0 1] and the output of rank 1 has 1024 bytes
}

// The even ranks alone create a segment, which has few notifications.
func ExampleSegmentOption() {
	check(gaspi.Local(context.Background(), 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() == 1 {
			return nil
		}
		even, err := p.NewGroup(0, 2)
		if err != nil {
			return err
		}
		if err := even.Commit(ctx); err != nil {
			return err
		}
		seg, err := p.CreateSegment(ctx, 0, 64, gaspi.Over(even), gaspi.WithNotifications(4))
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			fmt.Println(seg.Size(), "bytes,", seg.Notifications(), "notifications")
		}
		return nil
	}))
	// Output:
	// 64 bytes, 4 notifications
}

// Two goroutines of each rank copy one group at the same time. The tags say which calls belong
// together.
func ExampleTag() {
	count := func(ctx context.Context, world *gaspi.Group, tag gaspi.Tag) ([]int64, error) {
		own, err := world.Dup(ctx, tag)
		if err != nil {
			return nil, err
		}
		sum := make([]int64, 1)
		if err := gaspi.AllReduce(ctx, own, []int64{int64(tag)}, sum, gaspi.Sum); err != nil {
			return nil, err
		}
		return sum, own.Delete()
	}
	check(gaspi.Local(context.Background(), 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		var both sync.WaitGroup
		var sums [2][]int64
		var errs [2]error
		for i, tag := range []gaspi.Tag{10, 20} {
			both.Go(func() { sums[i], errs[i] = count(ctx, p.World(), tag) })
		}
		both.Wait()
		if p.Rank() == 0 {
			fmt.Println(sums)
		}
		return errors.Join(errs[:]...)
	}))
	// Output:
	// [[30] [60]]
}

// Rank 0 writes a table of rank 1, record by record.
func ExampleRemote() {
	const size = 4
	check(gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 3*size)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			table, q := gaspi.Remote{Rank: 1, Segment: 0}, p.MustQueue(0)
			copy(seg.Bytes(), "one two six ")
			for at := uint64(0); at < seg.Size(); at += size {
				record, err := seg.Span(at, size)
				if err != nil {
					return err
				}
				if err := q.Write(table.Plus(seg.Size()-size-at), record); err != nil {
					return err
				}
			}
			if err := q.Notify(table, gaspi.Notification{ID: 0, Value: 1}); err != nil { // arrives after the records
				return err
			}
			return q.Wait(ctx)
		}
		if _, err := seg.WaitSome(ctx, 0, 1); err != nil {
			return err
		}
		fmt.Printf("%q\n", seg.Bytes())
		return nil
	}))
	// Output:
	// "six two one "
}

// A span has its bounds checked once, when it is made.
func ExampleSpan() {
	check(gaspi.Local(context.Background(), 1, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 64)
		if err != nil {
			return err
		}
		header, err := seg.Span(0, 16)
		if err != nil {
			return err
		}
		length, err := header.Sub(8, 8)
		if err != nil {
			return err
		}
		fmt.Println(length.Len(), "bytes at", length.Offset())
		_, err = seg.Span(60, 8)
		fmt.Println(errors.Is(err, gaspi.ErrOutOfRange))
		return nil
	}))
	// Output:
	// 8 bytes at 8
	// true
}
