package gaspi_test

import (
	"context"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// BenchmarkWriteNotify is the caller's side of a write with notification of 8
// bytes to another rank whose memory nobody else touches, and of its pickup.
func BenchmarkWriteNotify(b *testing.B) {
	err := gaspi.Local(b.Context(), 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 4096)
		if err != nil || p.Rank() == 1 {
			return firstError(err, p.Barrier(ctx, p.World()))
		}
		src, _ := seg.Span(0, 8)
		q := p.MustQueue(0)
		dst := seg.At(1, 1024)
		b.Run("post", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := q.WriteNotify(dst, src, gaspi.Notification{ID: 3, Value: 7}); err != nil {
					q.Purge()
				}
			}
		})
		self := seg.At(0, 1024)
		if err := q.Notify(self, gaspi.Notification{ID: 3, Value: 7}); err != nil {
			return err
		}
		b.Run("wait", func(b *testing.B) {
			for b.Loop() {
				if err := seg.WaitUntil(ctx, 3, gaspi.Equal, 7); err != nil {
					b.Fatal(err)
				}
			}
		})
		return p.Barrier(ctx, p.World())
	})
	if err != nil {
		b.Fatal(err)
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
