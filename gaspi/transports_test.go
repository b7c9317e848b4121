package gaspi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// over runs two ranks of this process that share memory, and two that meet in
// sockets.
func over(t *testing.T, main func(ctx context.Context, p *gaspi.Proc) error) {
	for _, transport := range []string{"loopback", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			cfg := small
			cfg.Transport = transport
			if err := gaspi.Local(t.Context(), 2, cfg, main); err != nil {
				t.Error(err)
			}
		})
	}
}

// The notification of a write may lie in another segment, and shows the write.
func TestWriteNotifyIn(t *testing.T) {
	over(t, func(ctx context.Context, p *gaspi.Proc) error {
		data, board := must(p.CreateSegment(ctx, 0, 64)), must(p.CreateSegment(ctx, 1, 8))
		other, q, n := 1-p.Rank(), p.MustQueue(0), gaspi.Notification{ID: 3, Value: 7}
		src := must(data.Span(0, 16))
		copy(src.Bytes(), bytes.Repeat([]byte{byte(p.Rank()) + 1}, 16))
		for id, in := range []*gaspi.Segment{data, board} { // also in the same one
			ok(q.WriteNotifyIn(data.At(other, 32), src, gaspi.SegmentID(id), n))
			if v := await(ctx, in, 3); v != 7 {
				return fmt.Errorf("value %d in segment %d, want 7", v, id)
			}
			if got := data.Bytes()[32]; got != byte(other)+1 {
				return fmt.Errorf("%d was written, want %d", got, other+1)
			}
			ok(p.Barrier(ctx, p.World()))
		}
		ok(q.Wait(ctx))
		for what, c := range map[string]struct {
			err, want error
		}{
			"a segment id that nobody has": {q.WriteNotifyIn(data.At(other, 0), src, 5000, n), gaspi.ErrNoSegment},
			"a notification too many":      {q.WriteNotifyIn(data.At(other, 0), src, 1, gaspi.Notification{ID: 1 << 27, Value: 1}), gaspi.ErrNoNotification},
		} {
			if !errors.Is(c.err, c.want) {
				return fmt.Errorf("%s: %v, want %v", what, c.err, c.want)
			}
		}
		ok(q.Wait(ctx))
		return p.Barrier(ctx, p.World())
	})
}

// A refusal of a peer is an error of the post or of the next Wait, which gives the entries
// back, and of no Wait after that.
func TestRefusedWriteIsReportedOnce(t *testing.T) {
	over(t, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		q, src := p.MustQueue(0), must(must(p.AllocSegment(1, 64)).Span(0, 64))
		if p.Rank() == 0 {
			ok(q.Write(s.At(1, 0), src)) // so that it is known where the segment lies
			ok(q.Wait(ctx))
		}
		ok(p.Barrier(ctx, p.World()))
		if p.Rank() == 1 {
			ok(s.Delete())
		}
		ok(p.Barrier(ctx, p.World()))
		if p.Rank() == 0 {
			err := q.Write(s.At(1, 0), src)
			if err == nil {
				err = errors.Join(q.Flush(ctx, 1), q.Wait(ctx))
			}
			if !errors.Is(err, gaspi.ErrNoSegment) {
				return fmt.Errorf("a write to a deleted segment: %v, want ErrNoSegment", err)
			}
			if err := q.Wait(ctx); err != nil || q.Size() != 0 {
				return fmt.Errorf("afterwards: %v, %d entries", err, q.Size())
			}
		}
		return p.Barrier(ctx, p.World())
	})
}
