package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/google/go-cmp/cmp"
)

// In GPI-2 the second call fails, because the first has half succeeded.
func TestGASPISegmentCreateIsResumed(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		control := must(p.CreateSegment(ctx, 7, 8))
		if p.Rank() == 1 {
			await(ctx, control, 0)
		} else {
			limited, cancel := soon(ctx)
			defer cancel()
			if _, err := p.CreateSegment(limited, 0, 64); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("without rank 1: %v, want the deadline", err)
			}
			if _, err := p.CreateSegment(ctx, 0, 128); !errors.Is(err, gaspi.ErrInUse) {
				return fmt.Errorf("another size under the id meanwhile: %v, want ErrInUse", err)
			}
			if _, err := p.AllocSegment(0, 64); !errors.Is(err, gaspi.ErrInUse) {
				return fmt.Errorf("alloc under the id meanwhile: %v, want ErrInUse", err)
			}
			if !healthy(p) {
				return fmt.Errorf("state %v after a time limit", p.State())
			}
			quiet(ctx)
			if p.Rank() == 0 {
				tell(p, control, 1, 0)
			}
		}
		s := must(p.CreateSegment(ctx, 0, 64))
		if _, err := p.CreateSegment(ctx, 0, 64); !errors.Is(err, gaspi.ErrInUse) {
			return fmt.Errorf("the id again: %v, want ErrInUse", err)
		}
		next := (p.Rank() + 1) % 3
		ok(p.MustQueue(0).WriteNotify(s.At(next, 8), must(s.Span(0, 8)), gaspi.Notification{ID: 1, Value: 1}))
		await(ctx, s, 1)
		return p.Barrier(ctx, p.World())
	})
}

func TestCreateSegmentCanBeGivenUp(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		control := must(p.CreateSegment(ctx, 7, 8))
		if p.Rank() == 1 {
			await(ctx, control, 0)
			return nil
		}
		limited, cancel := soon(ctx)
		defer cancel()
		if _, err := p.CreateSegment(limited, 0, 64); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("alone: %v, want the deadline", err)
		}
		ok(p.DeleteSegment(0))
		must(p.AllocSegment(0, 8)) // the id is free
		tell(p, control, 1, 0)
		return nil
	})
}

func TestGASPISegmentSizeMayDiffer(t *testing.T) {
	const n = 4
	ranktest.Local(t, n, small, func(ctx context.Context, p *gaspi.Proc) error {
		size := func(r gaspi.Rank) uint64 { return 100 + 50*uint64(r) }
		notes := func(r gaspi.Rank) uint32 { return 4 + uint32(r) }
		s := must(p.CreateSegment(ctx, 3, size(p.Rank()), gaspi.WithNotifications(notes(p.Rank()))))
		if s.ID() != 3 || s.Size() != size(p.Rank()) || s.Notifications() != notes(p.Rank()) {
			return fmt.Errorf("segment %d of %d bytes with %d notifications", s.ID(), s.Size(), s.Notifications())
		}
		for r := range gaspi.Rank(n) {
			bytes, count, err := p.RemoteSize(r, 3)
			if err != nil || bytes != size(r) || count != notes(r) {
				return fmt.Errorf("rank %d: %d bytes, %d notifications, %v", r, bytes, count, err)
			}
			last := gaspi.Notification{ID: gaspi.NotificationID(notes(r)) - 1, Value: 1}
			ok(p.MustQueue(0).Notify(s.At(r, 0), last))
			last.ID++
			if err := p.MustQueue(0).Notify(s.At(r, 0), last); !errors.Is(err, gaspi.ErrNoNotification) {
				return fmt.Errorf("one notification too far at rank %d: %v", r, err)
			}
			ok(p.MustQueue(0).Write(s.At(r, size(r)-1-uint64(p.Rank())), must(s.Span(0, 1)))) // each its own byte
			if err := p.MustQueue(0).Write(s.At(r, size(r)), must(s.Span(0, 1))); !errors.Is(err, gaspi.ErrOutOfRange) {
				return fmt.Errorf("one byte too far at rank %d: %v", r, err)
			}
		}
		return p.Barrier(ctx, p.World())
	})
}

func TestGASPISegmentNumAndIDs(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		for _, id := range []gaspi.SegmentID{5, 0, 7} {
			must(p.AllocSegment(id, 8))
		}
		if d := cmp.Diff([]gaspi.SegmentID{0, 5, 7}, p.Segments()); d != "" {
			t.Errorf("segments (-want +got):\n%s", d)
		}
		gone := must(p.Segment(5))
		ok(p.DeleteSegment(5))
		again := must(p.AllocSegment(5, 8))
		_, noneErr := p.Segment(1)
		_, bigErr := p.AllocSegment(8, 8) // Config.Segments is 8
		_, sizeErr := p.AllocSegment(1, 0)
		for _, c := range []struct {
			name string
			err  error
			want error
		}{
			{"look for one that is not there", noneErr, gaspi.ErrNoSegment},
			{"delete one that is not there", p.DeleteSegment(1), gaspi.ErrNoSegment},
			{"delete a second time", gone.Delete(), gaspi.ErrClosed},
			{"register after delete", gone.Register(0), gaspi.ErrClosed},
			{"register with rank 1 of 1", again.Register(1), gaspi.ErrBadRank},
			{"id beyond the last", bigErr, gaspi.ErrNoSegment},
			{"wait after delete", func() error { _, err := gone.WaitSome(ctx, 0, 1); return err }(), gaspi.ErrClosed},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
			}
		}
		if sizeErr == nil {
			t.Error("a segment of 0 bytes was possible")
		}
		return nil
	})
}

func TestGASPISegmentRegisterLetsOneRankIn(t *testing.T) {
	ranktest.Local(t, 3, small, func(ctx context.Context, p *gaspi.Proc) error {
		control := must(p.CreateSegment(ctx, 7, 8))
		private := must(p.AllocSegment(0, 64))
		if p.Rank() == 0 {
			ok(private.Register(1))
		}
		ok(p.Barrier(ctx, p.World()))
		_, _, err := p.RemoteSize(0, 0)
		if let := p.Rank() == 1; (err == nil) != let || !let && !errors.Is(err, gaspi.ErrNoSegment) {
			return fmt.Errorf("rank %d: %v", p.Rank(), err)
		}
		if p.Rank() == 1 {
			ok(p.MustQueue(0).WriteNotify(private.At(0, 8), must(private.Span(0, 8)), gaspi.Notification{ID: 1, Value: 1}))
			await(ctx, control, 0)
		}
		if p.Rank() == 0 {
			await(ctx, private, 1)
			tell(p, control, 1, 0)
		}
		return p.Barrier(ctx, p.World())
	})
}

// Rank 1 writes into segment 0 of rank 0 as fast as it can, while that is deleted
// and made again for others. Nothing may land in the new one.
func TestLateWriteNeverLandsInTheNewSegment(t *testing.T) {
	var rounds, refused atomic.Int64
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		control := must(p.CreateSegment(ctx, 7, 8))
		if p.Rank() == 1 {
			src := must(must(p.AllocSegment(1, 64)).Span(0, 64))
			for i := range src.Bytes() {
				src.Bytes()[i] = 0xee
			}
			at := gaspi.Remote{Rank: 0, Segment: 0}
			for control.Peek(0) == 0 {
				err := p.MustQueue(0).WriteNotify(at, src, gaspi.Notification{ID: 3, Value: 1})
				switch {
				case err == gaspi.ErrQueueFull:
					ok(p.MustQueue(0).Wait(ctx))
				case errors.Is(err, gaspi.ErrNoSegment):
					refused.Add(1)
				default:
					ok(err)
				}
				if old, err := p.FetchAdd(ctx, at, 1); err == nil && old&0xff == 0 {
					rounds.Add(1) // it is open: the first bytes are mine or zero
				}
			}
			return p.Barrier(ctx, p.World())
		}
		for range 200 {
			open := must(p.AllocSegment(0, 64))
			ok(open.Register(1))
			must(open.WaitSome(ctx, 3, 1)) // rank 1 writes to it
			ok(open.Delete())
			other := must(p.AllocSegment(0, 64)) // not for rank 1
			for before := refused.Load(); refused.Load() < before+3; {
				must(p.FetchAdd(ctx, control.At(0, 0), 1))
			}
			for i, b := range other.Bytes() {
				if b != 0 {
					return fmt.Errorf("byte %d of the new segment is %#x", i, b)
				}
			}
			if v := other.Peek(3); v != 0 {
				return fmt.Errorf("notification 3 of the new segment is %d", v)
			}
			ok(other.Delete())
		}
		tell(p, control, 1, 0)
		return p.Barrier(ctx, p.World()) // rank 1 may write until it has seen that
	})
}

// A segment that is deleted and made again at once, for the same ranks, is the
// new one for everybody.
func TestSegmentsCanBeMadeAgainAndAgain(t *testing.T) {
	ranktest.Local(t, 3, small, func(ctx context.Context, p *gaspi.Proc) error {
		for round := range uint64(100) {
			s := must(p.CreateSegment(ctx, 2, 16+8*round))
			words := must(gaspi.View[uint64](s, 0, 2))
			if words[0] != 0 { // the other word may have been written already
				return fmt.Errorf("round %d: a new segment holds %d", round, words[0])
			}
			words[0] = round + 1
			next := (p.Rank() + 1) % 3
			ok(p.MustQueue(0).WriteNotify(s.At(next, 8), must(s.Span(0, 8)), gaspi.Notification{ID: 0, Value: 1}))
			ok(p.MustQueue(0).Wait(ctx))
			await(ctx, s, 0)
			if words[1] != round+1 {
				return fmt.Errorf("round %d: got %d", round, words[1])
			}
			ok(p.Barrier(ctx, p.World()))
			ok(s.Delete())
		}
		return nil
	})
}

func TestMappedMemoryOfAPeer(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		s.Bytes()[9] = byte(p.Rank()) + 1
		ok(p.Barrier(ctx, p.World()))
		other := 1 - p.Rank()
		x, mapped := s.Mapped(other, 8, 8)
		if !mapped || x.Len() != 8 || x.Bytes()[1] != byte(other)+1 {
			return fmt.Errorf("mapped %v: %v", mapped, x.Bytes())
		}
		if _, mapped := s.Mapped(other, 60, 8); mapped {
			return errors.New("memory over the end is offered")
		}
		if _, mapped := s.Mapped(2, 0, 8); mapped {
			return errors.New("memory of rank 2 of 2 is offered")
		}
		return p.Barrier(ctx, p.World())
	})
}
