package gaspi

import (
	"fmt"
	"runtime"

	"github.com/gaspi-go/gaspi-go/internal/trace"
	"github.com/gaspi-go/gaspi-go/notify"
)

// This file is hot: it is how the shortest messages of collective operations arrive.

const (
	// LineSize is the bytes of a line of WriteNotifyLine, which begins at a multiple of as many.
	LineSize = notify.LineSize
	// LinePayload is the most bytes of data that WriteNotifyLine writes.
	LinePayload = notify.LinePayload
)

// WriteNotifyLine is WriteNotify of at most LinePayload bytes to the beginning of a line that is used for nothing else:
// the LineSize bytes from dst on. Where this process can address the memory of the rank, it mostly stores the value of n
// behind the data too, in the last 4 bytes of the line, before it posts n. A rank that sees it there, by
// Segment.PollLine, sees the data, and needs the notification no more: one cache line has come to it in place of two.
// Nothing else needs to be known of a line: the notification comes in any case. An extension of the standard.
func (q *Queue) WriteNotifyLine(dst Remote, src Span, n Notification) error {
	if src.Len() > LinePayload || dst.Offset%LineSize != 0 {
		return q.refused("write_notify_line", dst, src.Len(), badLine(dst, src))
	}
	w := q.near(dst, src)
	if w == nil || n.Add || !w.Holds(dst.Offset, LineSize) || !w.Takes(n.ID, n.Value) {
		return q.writeNotifySlow("write_notify_line", dst, src, dst.Segment, n)
	}
	if !q.take(dst.Rank, 1) {
		return q.full(dst.Rank)
	}
	begun := q.timeline.BeginMove(src.Len())
	w.PutLine(dst.Offset, src.Bytes(), n.ID, n.Value)
	runtime.KeepAlive(src)
	q.released(w, dst.Rank, src.Len())
	if q.timeline != nil {
		q.recordPost(trace.WriteNotify, begun, dst, dst.Segment, n, src.Len())
	}
	return nil
}

// TryWriteNotifyLine is WriteNotifyLine of data that may lie anywhere and is the caller's again when the call returns, as
// in an inline send of RDMA. It reports whether it has written, which it does only where this process can address the
// memory of the rank, the queue has lately operated on that segment of the rank, and is not full. Otherwise it has had no
// effect; WriteNotifyLine writes then, or returns the error. An extension of the standard.
func (q *Queue) TryWriteNotifyLine(dst Remote, data []byte, n Notification) bool {
	w := q.near(dst, Span{})
	if w == nil || len(data) > LinePayload || dst.Offset%LineSize != 0 || n.Add ||
		!w.Holds(dst.Offset, LineSize) || !w.Takes(n.ID, n.Value) || !q.take(dst.Rank, 1) {
		return false
	}
	begun := q.timeline.BeginMove(uint64(len(data)))
	w.PutLine(dst.Offset, data, n.ID, n.Value)
	q.released(w, dst.Rank, uint64(len(data)))
	if q.timeline != nil {
		q.recordPost(trace.WriteNotify, begun, dst, dst.Segment, n, uint64(len(data)))
	}
	return true
}

// badLine says why src cannot be written to a line at dst.
func badLine(dst Remote, src Span) error {
	if src.Len() > LinePayload {
		return fmt.Errorf("%w: %d bytes; a line has room for %d", ErrTooLarge, src.Len(), LinePayload)
	}
	return fmt.Errorf("%w: offset %d; a line begins at a multiple of %d bytes", ErrUnaligned, dst.Offset, LineSize)
}

// PollLine reports whether WriteNotifyLine has stored v in the line at an offset: now or, where waits spin, within about
// a microsecond, and where they only yield after a turn of others. It does not sleep, and reports false if the segment is
// deleted or has no such line. False says nothing of the notification, which a rank waits for then; see WriteNotifyLine.
// Before it reuses the values of a line, a rank overwrites them while nobody writes there. An extension of the standard.
func (s *Segment) PollLine(offset uint64, v Value) bool {
	mem := s.mem.All().Bytes()
	if offset%LineSize != 0 || offset >= uint64(len(mem)) || uint64(len(mem))-offset < LineSize {
		return false
	}
	there := s.mem.Notifications().PollLine(mem[offset:], v, s.spent.Load())
	runtime.KeepAlive(s) // its bytes do not keep it mapped if it is deleted meanwhile
	return there
}
