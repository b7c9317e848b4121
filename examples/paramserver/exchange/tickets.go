package exchange

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A board is the segment by which rank 0 tells workers what is for them, and they tell it
// what they have ready. Notifications of a worker are ticketID and overID; those of rank
// 0 are one per rank for what is ready, and one per rank for who has heard the end.
type board struct {
	p     *gaspi.Proc
	seg   *gaspi.Segment
	queue *gaspi.Queue
}

const (
	ticketID gaspi.NotificationID = iota
	overID
)

// newBoard makes the segment, with room bytes for data, at least 1. It is collective over all ranks.
func newBoard(ctx context.Context, p *gaspi.Proc, room uint64) (*board, error) {
	id, err := p.FreeSegmentID(0)
	if err != nil {
		return nil, err
	}
	seg, err := p.CreateSegment(ctx, id, room, gaspi.WithNotifications(uint32(2*p.Size()+2)))
	if err != nil {
		return nil, err
	}
	q, err := p.CreateQueue()
	if err != nil {
		return nil, err
	}
	return &board{p: p, seg: seg, queue: q}, nil
}

func (b *board) readyID(r gaspi.Rank) gaspi.NotificationID { return gaspi.NotificationID(r) }

func (b *board) heardID(r gaspi.Rank) gaspi.NotificationID {
	return gaspi.NotificationID(b.p.Size()) + gaspi.NotificationID(r)
}

// tell posts a notification at another rank.
func (b *board) tell(ctx context.Context, r gaspi.Rank, id gaspi.NotificationID, v ticket) error {
	if err := b.queue.Notify(b.seg.At(r, 0), gaspi.Notification{ID: id, Value: v}); err != nil {
		return err
	}
	return b.queue.Wait(ctx)
}

// take waits for a notification and resets it.
func (b *board) take(ctx context.Context, id gaspi.NotificationID) (ticket, error) {
	if err := b.seg.WaitFunc(ctx, func() bool { return b.seg.Peek(id) != 0 }, gaspi.ThroughLosses); err != nil {
		return 0, err
	}
	return b.seg.Reset(id)
}

// finish tells all workers that there is nothing more, and lets them go when all have
// heard it: until then none may seem to have died.
func (b *board) finish(ctx context.Context, m *members) error {
	err := m.each(ctx, func(ctx context.Context, r gaspi.Rank) error { return b.tell(ctx, r, ticketID, noMore) })
	if err != nil {
		return err
	}
	err = m.each(ctx, func(ctx context.Context, r gaspi.Rank) error {
		_, err := b.take(ctx, b.heardID(r))
		return err
	})
	if err != nil {
		return err
	}
	return m.each(ctx, func(ctx context.Context, r gaspi.Rank) error { return b.tell(ctx, r, overID, 1) })
}

// leave is a worker's part of finish.
func (b *board) leave(ctx context.Context, m *members) error {
	return m.with(ctx, func(ctx context.Context, _ []gaspi.Rank) error {
		if err := b.tell(ctx, server, b.heardID(b.p.Rank()), 1); err != nil {
			return err
		}
		_, err := b.take(ctx, overID)
		return err
	})
}

// close gives back what newBoard took.
func (b *board) close() error {
	b.queue.Purge()
	if err := b.queue.Delete(); err != nil {
		return err
	}
	return b.seg.Delete()
}

// send writes size bytes from offset from of this rank's segment to dst, in as many
// transfers as it takes, and then posts n there. The queue must be empty.
func (b *board) send(dst gaspi.Remote, from, size uint64, n gaspi.Notification) error {
	for most := b.p.Config().TransferMax; size > most; size -= most {
		src, err := b.seg.Span(from, most)
		if err == nil {
			err = b.queue.Write(dst, src)
		}
		if err != nil {
			return err
		}
		dst, from = dst.Plus(most), from+most
	}
	src, err := b.seg.Span(from, size)
	if err != nil {
		return err
	}
	if err := b.queue.Write(dst, src); err != nil {
		return err
	}
	return b.queue.Notify(dst, n) // after all of them
}

// fetch reads size bytes from src to offset to of this rank's segment, until the next Wait.
func (b *board) fetch(to uint64, src gaspi.Remote, size uint64) error {
	most := b.p.Config().TransferMax
	for size > 0 {
		n := min(size, most)
		dst, err := b.seg.Span(to, n)
		if err == nil {
			err = b.queue.Read(dst, src)
		}
		if err != nil {
			return err
		}
		to, src, size = to+n, src.Plus(n), size-n
	}
	return nil
}
