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
