package gaspi_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// BenchmarkCalls is the caller's side of short calls: posts of 8 bytes to another rank whose memory nobody
// else touches, waits that end at once, and collectives of a group of one.
func BenchmarkCalls(b *testing.B) {
	err := gaspi.Local(b.Context(), 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 4096)
		if err != nil || p.Rank() == 1 {
			return firstError(err, p.Barrier(ctx, p.World()))
		}
		calls, err := shortCalls(ctx, p, seg)
		if err != nil {
			return err
		}
		for _, c := range calls {
			b.Run(c.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					err := c.call()
					if errors.Is(err, gaspi.ErrQueueFull) {
						p.MustQueue(0).Purge()
						err = nil
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		return p.Barrier(ctx, p.World())
	})
	if err != nil {
		b.Fatal(err)
	}
}

type shortCall struct {
	name string
	call func() error
}

// shortCalls returns the calls, whose waits end at once.
func shortCalls(ctx context.Context, p *gaspi.Proc, seg *gaspi.Segment) ([]shortCall, error) {
	span, err := seg.Span(0, 8)
	if err != nil {
		return nil, err
	}
	alone, err := p.NewGroup(p.Rank())
	if err != nil {
		return nil, err
	}
	q, dst, self := p.MustQueue(0), seg.At(1, 1024), seg.At(0, 1024)
	note := gaspi.Notification{ID: 3, Value: 7}
	always := func() bool { return true }
	in, out := []float64{1}, []float64{0}
	return []shortCall{
			{"WriteNotify", func() error { return q.WriteNotify(dst, span, note) }},
			{"Write", func() error { return q.Write(dst, span) }},
			{"Notify", func() error { return q.Notify(dst, note) }},
			{"Read", func() error { return q.Read(span, dst) }},
			{"WaitUntil", func() error { return seg.WaitUntil(ctx, 3, gaspi.Equal, 7) }},
			{"WaitSome", func() error { _, err := seg.WaitSome(ctx, 0, 8); return err }},
			{"WaitFunc", func() error { return seg.WaitFunc(ctx, always) }},
			{"Barrier", func() error { return p.Barrier(ctx, alone) }},
			{"AllReduce", func() error { return gaspi.AllReduce(ctx, alone, in, out, gaspi.Sum) }},
		},
		firstError(alone.Commit(ctx), q.Notify(self, note), seg.WaitUntil(ctx, 3, gaspi.Equal, 7))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
