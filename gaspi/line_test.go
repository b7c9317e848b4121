package gaspi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// The notification of a line comes in any case, and its value lies behind the data from the second write on, where
// ranks share memory.
func TestWriteNotifyLine(t *testing.T) {
	over(t, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 256))
		other, q := 1-p.Rank(), p.MustQueue(0)
		_, mapped := s.Mapped(other, 0, 1)
		src := must(s.Span(64, gaspi.LinePayload))
		for round := byte(1); round <= 3; round++ {
			n := gaspi.Notification{ID: 3, Value: gaspi.Value(round)}
			copy(src.Bytes(), bytes.Repeat([]byte{round}, gaspi.LinePayload))
			ok(q.WriteNotifyLine(s.At(other, 128), src, n))
			ok(s.WaitUntil(ctx, 3, gaspi.Equal, n.Value))
			if got := s.Bytes()[128:192]; !bytes.Equal(got[:gaspi.LinePayload], src.Bytes()) {
				return fmt.Errorf("round %d: the line holds %x", round, got)
			}
			if got, want := s.PollLine(128, n.Value), mapped && round > 1; got != want {
				return fmt.Errorf("round %d: the value is behind the data: %v, want %v", round, got, want)
			}
			ok(p.Barrier(ctx, p.World()))
		}
		ok(q.Wait(ctx))
		if s.PollLine(192+8, 0) || s.PollLine(256, 0) || s.PollLine(1<<63, 0) {
			return errors.New("a line was found where there is none")
		}
		return p.Barrier(ctx, p.World())
	})
}

// Data of a line is written from anywhere, once the queue knows the way to memory that this process can address, and is
// the caller's again at once. A call that cannot write has no effect.
func TestTryWriteNotifyLine(t *testing.T) {
	over(t, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 256))
		other, q := 1-p.Rank(), must(p.CreateQueue())
		_, mapped := s.Mapped(other, 0, 1)
		data, n := []byte{1, 2, 3}, gaspi.Notification{ID: 3, Value: 5}
		if q.TryWriteNotifyLine(s.At(other, 128), data, n) {
			return errors.New("a queue has written that does not know the way")
		}
		ok(q.WriteNotifyLine(s.At(other, 64), must(s.Span(0, 8)), gaspi.Notification{ID: 2, Value: 1}))
		if wrote := q.TryWriteNotifyLine(s.At(other, 128), data, n); wrote != mapped {
			return fmt.Errorf("it has written: %v, want %v", wrote, mapped)
		}
		clear(data)
		for what, tried := range map[string]bool{
			"too long":        q.TryWriteNotifyLine(s.At(other, 0), make([]byte, gaspi.LinePayload+1), n),
			"between lines":   q.TryWriteNotifyLine(s.At(other, 8), data, n),
			"at the end":      q.TryWriteNotifyLine(s.At(other, 256), data, n),
			"a zero value":    q.TryWriteNotifyLine(s.At(other, 0), data, gaspi.Notification{ID: 3}),
			"an addition":     q.TryWriteNotifyLine(s.At(other, 0), data, gaspi.Notification{ID: 3, Value: 1, Add: true}),
			"another segment": q.TryWriteNotifyLine(gaspi.Remote{Rank: other, Segment: 7}, data, n),
		} {
			if tried {
				return fmt.Errorf("%s: it has written", what)
			}
		}
		for mapped && q.Size() < p.Config().QueueDepth {
			ok(q.Notify(s.At(other, 0), gaspi.Notification{ID: 1, Value: 1}))
		}
		if mapped && q.TryWriteNotifyLine(s.At(other, 0), data, n) {
			return errors.New("a full queue has written")
		}
		ok(q.Wait(ctx))
		ok(p.Barrier(ctx, p.World()))
		if mapped {
			ok(s.WaitUntil(ctx, 3, gaspi.Equal, 5))
		}
		want := make([]byte, 256)
		if mapped {
			copy(want[128:], []byte{1, 2, 3})
		}
		if got := s.Bytes(); !bytes.Equal(got[:64], want[:64]) || !bytes.Equal(got[128:188], want[128:188]) || s.PollLine(128, 5) != mapped {
			return fmt.Errorf("the segment holds %x", got)
		}
		return p.Barrier(ctx, p.World())
	})
}

// A line begins at a multiple of its size and holds so many bytes.
func TestWriteNotifyLineRefuses(t *testing.T) {
	over(t, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 256))
		other, q, n := 1-p.Rank(), p.MustQueue(0), gaspi.Notification{ID: 3, Value: 1}
		for what, c := range map[string]struct {
			err, want error
		}{
			"too long":        {q.WriteNotifyLine(s.At(other, 0), must(s.Span(0, gaspi.LinePayload+1)), n), gaspi.ErrTooLarge},
			"between lines":   {q.WriteNotifyLine(s.At(other, 8), must(s.Span(0, 8)), n), gaspi.ErrUnaligned},
			"a zero value":    {q.WriteNotifyLine(s.At(other, 0), must(s.Span(0, 8)), gaspi.Notification{ID: 3}), gaspi.ErrZeroValue},
			"another segment": {q.WriteNotifyLine(gaspi.Remote{Rank: other, Segment: 7}, must(s.Span(0, 8)), n), gaspi.ErrNoSegment},
		} {
			err := c.err
			if err == nil {
				err = q.Wait(ctx)
			}
			if !errors.Is(err, c.want) {
				return fmt.Errorf("%s: %v, want %v", what, err, c.want)
			}
		}
		return p.Barrier(ctx, p.World())
	})
}
