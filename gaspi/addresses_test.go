package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// transfers are all operations that move bytes: between local memory and an address,
// with notifications, if they have any, in own, whose segment local lies in.
var transfers = map[string]func(q *gaspi.Queue, own *gaspi.Segment, local gaspi.Span, at gaspi.Remote) error{
	"write": func(q *gaspi.Queue, _ *gaspi.Segment, local gaspi.Span, at gaspi.Remote) error {
		return q.Write(at, local)
	},
	"write_notify": func(q *gaspi.Queue, _ *gaspi.Segment, local gaspi.Span, at gaspi.Remote) error {
		return q.WriteNotify(at, local, flag)
	},
	"write_notify in another": func(q *gaspi.Queue, own *gaspi.Segment, local gaspi.Span, at gaspi.Remote) error {
		return q.WriteNotifyIn(at, local, own.ID(), flag)
	},
	"read": func(q *gaspi.Queue, _ *gaspi.Segment, local gaspi.Span, at gaspi.Remote) error {
		return q.Read(local, at)
	},
	"read_notify": func(q *gaspi.Queue, _ *gaspi.Segment, local gaspi.Span, at gaspi.Remote) error {
		return q.ReadNotify(local, at, flag)
	},
	"write_list": func(q *gaspi.Queue, _ *gaspi.Segment, local gaspi.Span, at gaspi.Remote) error {
		return q.WriteList(listOf(local, at))
	},
	"write_list_notify": func(q *gaspi.Queue, own *gaspi.Segment, local gaspi.Span, at gaspi.Remote) error {
		return q.WriteListNotify(listOf(local, at), own.At(at.Rank, 0), flag)
	},
	"read_list": func(q *gaspi.Queue, _ *gaspi.Segment, local gaspi.Span, at gaspi.Remote) error {
		return q.ReadList(listOf(local, at))
	},
	"read_list_notify": func(q *gaspi.Queue, own *gaspi.Segment, local gaspi.Span, at gaspi.Remote) error {
		return q.ReadListNotify(listOf(local, at), own, flag)
	},
}

var flag = gaspi.Notification{ID: 3, Value: 1}

func listOf(local gaspi.Span, at gaspi.Remote) []gaspi.Transfer {
	return []gaspi.Transfer{{Local: local, Remote: at}}
}

// The segments of the matrix. All have addressesSize bytes.
const (
	segCreated, segBound gaspi.SegmentID = 0, 1
	segDeleted           gaspi.SegmentID = 2 // once it has been used
	segUnknown           gaspi.SegmentID = 3
	segBeyond            gaspi.SegmentID = 8 // Config.Segments is 8

	addressesSize = 64
)

// addressMatrix does every operation of 0 and of 1 byte at addresses of all kinds: the
// error is the same for both sizes, on every transport, for the own rank and another.
func addressMatrix(ctx context.Context, p *gaspi.Proc) error {
	own := must(p.CreateSegment(ctx, segCreated, addressesSize))
	must(p.UseSegment(ctx, segBound, make([]byte, addressesSize)))
	gone := must(p.CreateSegment(ctx, segDeleted, addressesSize))
	q := p.MustQueue(0)
	ranks := []gaspi.Rank{p.Rank(), (p.Rank() + 1) % gaspi.Rank(p.Size())}
	for _, r := range ranks {
		ok(q.Write(gone.At(r, uint64(p.Rank())), must(own.Span(0, 1))))
	}
	ok(q.Wait(ctx))
	ok(p.Barrier(ctx, p.World()))
	ok(gone.Delete())
	ok(p.Barrier(ctx, p.World()))
	for _, r := range ranks {
		ok(q.Flush(ctx, r)) // behind the news of that
	}
	var wrong []string
	try := func(at gaspi.Remote, want error) {
		for name, do := range transfers {
			for n := range uint64(2) {
				expected := want
				if want == nil && at.Offset+n > addressesSize {
					expected = gaspi.ErrOutOfRange
				}
				if err := settled(ctx, p, at.Rank, func(q *gaspi.Queue) error { return do(q, own, must(own.Span(0, n)), at) }); !errors.Is(err, expected) || expected == nil && err != nil {
					wrong = append(wrong, fmt.Sprintf("%s of %d bytes at %v: %v, want %v", name, n, at, err, expected))
				}
			}
		}
	}
	for turn := range gaspi.Rank(p.Size()) { // two ranks never write to one place at a time
		if turn == p.Rank() {
			tryAll(p, ranks, try)
		}
		ok(p.Barrier(ctx, p.World()))
	}
	if s := p.Stats(); s.Writes > 1<<40 || s.Reads > 1<<40 {
		wrong = append(wrong, fmt.Sprintf("statistics of operations that were refused: %+v", s))
	}
	ok(p.Barrier(ctx, p.World()))
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n"))
	}
	return nil
}

// tryAll tries every address with the error that it is to give.
func tryAll(p *gaspi.Proc, ranks []gaspi.Rank, try func(at gaspi.Remote, want error)) {
	for _, offset := range []uint64{0, addressesSize - 1, addressesSize, addressesSize + 1, 1 << 40, 1<<64 - 1} {
		for _, r := range ranks {
			for _, id := range []gaspi.SegmentID{segCreated, segBound} {
				var want error
				if offset > addressesSize {
					want = gaspi.ErrOutOfRange
				}
				try(gaspi.Remote{Rank: r, Segment: id, Offset: offset}, want)
			}
			for _, id := range []gaspi.SegmentID{segDeleted, segUnknown, segBeyond, 1<<32 - 1} {
				try(gaspi.Remote{Rank: r, Segment: id, Offset: offset}, gaspi.ErrNoSegment)
			}
		}
		for _, r := range []gaspi.Rank{-1, gaspi.Rank(p.Size()), 1 << 30} {
			try(gaspi.Remote{Rank: r, Segment: segCreated, Offset: offset}, gaspi.ErrBadRank)
		}
	}
}

// settled is how an operation with rank r has ended.
func settled(ctx context.Context, p *gaspi.Proc, r gaspi.Rank, do func(q *gaspi.Queue) error) error {
	q := p.MustQueue(0)
	if err := do(q); err != nil {
		return err
	}
	return errors.Join(q.Flush(ctx, r), q.Wait(ctx))
}

func TestAddressesAmongGoroutines(t *testing.T) { ranktest.Local(t, 2, small, addressMatrix) }

func TestAddressesAmongProcesses(t *testing.T) {
	for _, c := range []struct{ name, transport, env string }{
		{"shm", "shm", ""}, {"tcp", "tcp", ""}, {"auto", "auto", ""}, {"emulated", "auto", "GASPI_EMULATE=latency=20us"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := launcher.Config{Ranks: 2, Transport: c.transport}
			if c.env != "" {
				cfg.Env = []string{c.env}
			}
			ranktest.Succeeds(t, cfg, "addresses")
		})
	}
}
