package gaspi

import (
	"context"
	"hash/fnv"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/trace"
	"github.com/gaspi-go/gaspi-go/notify"
)

// This file records what this rank does for gaspi-run --trace. Without it no queue, segment or Proc
// has a recorder, which is all that a call finds out.

// inheritTimeline returns the recorder of this rank, nil where there is none.
func inheritTimeline(info boot.Info, inside bool) (*trace.Recorder, error) {
	if inside {
		return nil, nil
	}
	return trace.Inherit(info.LocalRank, info.LocalSize)
}

// Span begins a stretch of time that gaspi-run --trace shows under a name, in this rank and
// goroutine, until end is called in the same goroutine. Calls of this library are shown inside of it,
// as are stretches that begin and end in it. A rank has room for 4,096 names of up to 200 bytes, 60 KiB
// in all. It does not block, and does nothing without --trace.
func (p *Proc) Span(name string) (end func()) {
	if p.timeline == nil {
		return func() {}
	}
	rec := trace.Record{Kind: trace.Program, Name: p.timeline.Named(name), Begin: p.timeline.Now()}
	return func() { p.timeline.Add(&rec) }
}

// Steps returns the recorder of gaspi-run --trace for a library that has q and s to itself, and records
// itself what it does with them: they do not record it then. It is nil without --trace. It is called
// before q and s are used.
func (p *Proc) Steps(q *Queue, s *Segment) *trace.Recorder {
	q.timeline, s.timeline = nil, nil
	q.plain = !q.traffic.Serialized()
	return p.timeline
}

// recordPost records an operation that posts n in a segment.
func (q *Queue) recordPost(kind trace.Action, begun int64, dst Remote, in SegmentID, n Notification, bytes uint64) {
	tl := q.timeline
	if tl == nil {
		return
	}
	if now := tl.Now(); tl.Keep(begun, now, trace.PostPrice) {
		tl.Add(&trace.Record{
			Kind: kind, Begin: begun, End: now, Peer: dst.Rank, Segment: uint32(in), Note: uint32(n.ID), Count: 1,
			Value: uint32(n.Value), Adds: n.Add, Bytes: bytes,
		})
	}
}

// recordMove records an operation that posts nothing at a peer.
func (q *Queue) recordMove(kind trace.Action, begun int64, peer Rank, bytes uint64) {
	tl := q.timeline
	if tl == nil {
		return
	}
	if now := tl.Now(); tl.Keep(begun, now, trace.PostPrice) {
		tl.Add(&trace.Record{Kind: kind, Begin: begun, End: now, Peer: peer, Bytes: bytes})
	}
}

// recordList records a list of operations, with a notification at the end unless that is nil.
func (q *Queue) recordList(op string, begun int64, peer Rank, list []Transfer, end *listEnd) {
	if q.timeline == nil {
		return
	}
	rec := trace.Record{Kind: trace.ReadList, Begin: begun, Peer: peer}
	if op[0] == 'w' {
		rec.Kind = trace.WriteList
	}
	for _, t := range list {
		rec.Bytes += t.Local.Len()
	}
	if end != nil && !end.isLocal {
		rec.Segment, rec.Note, rec.Count = uint32(end.at.Segment), uint32(end.n.ID), 1
		rec.Value, rec.Adds = uint32(end.n.Value), end.n.Add
	}
	q.timeline.Add(&rec)
}

// recordCall records a call that blocks for operations of the queue.
func (q *Queue) recordCall(kind trace.Action, begun int64, peer Rank) {
	if q.timeline != nil {
		q.recordMove(kind, begun, peer, 0)
	}
}

// recordCall records a call that blocks for a peer.
func (p *Proc) recordCall(kind trace.Action, begun int64, peer Rank) {
	p.recordMessage(kind, begun, peer, 0)
}

// recordMessage records a call that carries bytes to a peer, or from one.
func (p *Proc) recordMessage(kind trace.Action, begun int64, peer Rank, bytes uint64) {
	if p.timeline == nil {
		return
	}
	p.timeline.Add(&trace.Record{Kind: kind, Begin: begun, Peer: peer, Bytes: bytes})
}

// waitRecorded is Segment.wait with a record, unless what is waited for comes within a microsecond:
// that is no wait, and its record would take a part of that time.
func (s *Segment) waitRecorded(ctx context.Context, kind trace.Action, op string, want notify.Condition) (NotificationID, error) {
	if id, ok := s.mem.Notifications().Soon(want); ok {
		return id, nil
	}
	begun := s.timeline.Now()
	id, err := s.mem.Notifications().Wait(ctx, want, s.stop, s.spent.Load())
	s.recordWait(kind, begun, id, want, err)
	if err != nil {
		return 0, s.waitError(op, want, err)
	}
	return id, nil
}

// recordWait records a wait for notifications: the one that ended it, or all that it was for.
func (s *Segment) recordWait(kind trace.Action, begun int64, id NotificationID, want notify.Condition, err error) {
	first, count := want.Range()
	rec := trace.Record{Kind: kind, Begin: begun, Segment: uint32(s.id), Note: uint32(first), Count: count}
	if err == nil && kind != trace.WaitAll {
		rec.Note, rec.Count, rec.Value = uint32(id), 1, uint32(s.Peek(id))
	}
	if err != nil {
		rec.Count = 0
	}
	s.timeline.Add(&rec)
}

// recordWaitFunc records a wait for a function, unless it was short.
func (s *Segment) recordWaitFunc(begun int64) {
	tl := s.timeline
	if now := tl.Now(); !tl.Short(begun, now) {
		tl.Add(&trace.Record{Kind: trace.WaitFunc, Begin: begun, End: now, Segment: uint32(s.id)})
	}
}

// recordMeeting records a call that ends when all members of g have made it.
func (g *Group) recordMeeting(kind trace.Action, begun int64, number notify.Value) {
	g.p.timeline.Add(&trace.Record{Kind: kind, Begin: begun, Segment: g.meetings(), Value: uint32(number)})
}

// meetings is a number of the group that all members call it by.
func (g *Group) meetings() uint32 {
	if n := g.key.Load(); n != 0 {
		return n
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(g.anywhere()))
	n := h.Sum32() | 1
	g.key.Store(n)
	return n
}

// recordNamed records another call of this package.
func (p *Proc) recordNamed(name string, begun int64) {
	if p.timeline == nil {
		return
	}
	p.timeline.Add(&trace.Record{Kind: trace.Call, Name: p.timeline.Named(name), Begin: begun})
}
