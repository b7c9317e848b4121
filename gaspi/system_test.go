package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// The runtime keeps a segment of its own above the program's ids. An address that
// names it is out of range like any other, for every operation that takes one.
func TestTheRuntimesOwnMemoryIsOutOfReach(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		span := must(s.Span(0, 8))
		q, n := p.MustQueue(0), gaspi.Notification{ID: 0, Value: 1}
		for _, id := range []gaspi.SegmentID{gaspi.SegmentID(small.Segments), gaspi.SegmentID(small.Segments) + 1, 1 << 31} {
			at := gaspi.Remote{Rank: 1 - p.Rank(), Segment: id}
			list := []gaspi.Transfer{{Local: span, Remote: at}}
			fine := []gaspi.Transfer{{Local: span, Remote: s.At(at.Rank, 0)}}
			_, atomicErr := p.FetchAdd(ctx, at, 1)
			_, _, sizeErr := p.RemoteSize(at.Rank, id)
			for name, err := range map[string]error{
				"write": q.Write(at, span), "write_notify": q.WriteNotify(at, span, n), "notify": q.Notify(at, n),
				"read": q.Read(span, at), "read_notify": q.ReadNotify(span, at, n), "fetch_add": atomicErr, "size": sizeErr,
				"write_list": q.WriteList(list), "read_list": q.ReadList(list),
				"write_list_notify": q.WriteListNotify(fine, at, n),
			} {
				if !errors.Is(err, gaspi.ErrNoSegment) {
					return fmt.Errorf("%s with segment %d: %v, want ErrNoSegment", name, id, err)
				}
			}
		}
		return p.Barrier(ctx, p.World())
	})
}
