package rdma

import (
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/segment"
)

// handleEventLocked handles an event of the fabric.
func (t *Transport) handleEventLocked(e *completion) {
	switch e.kind {
	case eventDone:
		t.endedLocked(e.token, nil)
	case eventFailed:
		t.endedLocked(e.token, e.err)
	case eventMessage:
		if err := t.handleMessageLocked(&e.message); err != nil {
			t.cfg.Log.Warn("gaspi: dropped a message", "rank", t.cfg.Rank, "why", err)
		}
	case eventData:
		if err := t.flags.post(e.data); err != nil {
			t.cfg.Log.Warn("gaspi: dropped a notification", "rank", t.cfg.Rank, "why", err)
		}
	case eventBroken:
		t.breakLocked(e.err)
	}
}

// breakLocked ends all operations because the endpoint cannot be used any more.
func (t *Transport) breakLocked(cause error) {
	if t.broken.Swap(true) {
		return
	}
	t.cfg.Log.Error("gaspi: the network does not work any more", "rank", t.cfg.Rank, "why", cause)
	for r := range base.Rank(t.cfg.Size) {
		if r != t.cfg.Rank {
			_ = t.links.To(r).unreachableLocked(cause)
		}
	}
}

// handleMessageLocked handles a message of a peer. No field of it is trusted: requests are
// checked against the segments that are exposed at that moment, replies against the
// pending requests.
func (t *Transport) handleMessageLocked(raw *[messageSize]byte) error {
	m := &t.parsed
	if err := m.parse(raw, t.secret, t.cfg.Size); err != nil {
		return err
	}
	if base.Rank(m.from) == t.cfg.Rank {
		return errors.New("a message of this rank to itself")
	}
	l := t.links.To(base.Rank(m.from))
	l.contacted = true
	switch m.kind {
	case kindAttach:
		l.handleAttachLocked(m)
	case kindAtomic:
		l.handleAtomicLocked(m)
	case kindFlush:
		l.sendControlLocked(message{kind: kindResult, number: m.number})
	case kindNotify:
		return l.handleNotifyLocked(m)
	case kindWithdrawn:
		l.handleWithdrawnLocked(m)
	case kindReleased:
		t.handleReleasedLocked(l.peer.Rank, m.generation)
	case kindBye:
		l.handleByeLocked()
	case kindByeAck:
		l.byeAcked = true
		t.array.WakeSleepers()
	default:
		return l.handleReplyLocked(m)
	}
	return nil
}

// handleAttachLocked sends the descriptor of a segment.
func (l *link) handleAttachLocked(m *message) {
	_ = l.t.registry.Attach(l.peer.Rank, m.segment, func(x *region) error { // never fails
		if x == nil {
			l.refuseLocked(m, remote.RefusedSegment)
			return nil
		}
		reg := &x.State
		l.sendControlLocked(message{
			kind: kindAttached, number: m.number, segment: m.segment, generation: x.Generation, pages: uint16(reg.flagPages),
			a: x.Segment.Size(), b: uint64(x.Notifications.Len()) | uint64(reg.flagFirst)<<32, c: reg.memory.base, d: reg.memory.key,
		})
		return nil
	})
}

func (l *link) refuseLocked(m *message, why remote.Refusal) {
	l.sendControlLocked(message{kind: kindRefused, code: uint8(why), number: m.number, segment: m.segment, generation: m.generation})
}

// handleAtomicLocked carries out an atomic.
func (l *link) handleAtomicLocked(m *message) {
	x := l.t.registry.Find(l.peer.Rank, m.segment, m.generation)
	if x == nil {
		l.refuseLocked(m, remote.RefusedSegment)
		return
	}
	old, why := x.Atomic(transport.AtomicOp(m.code), m.c, m.a, m.b)
	if why != 0 {
		l.refuseLocked(m, why)
		return
	}
	l.sendControlLocked(message{kind: kindResult, number: m.number, a: old})
}

// handleNotifyLocked posts a notification that came as a message. One for a withdrawn
// segment is dropped: the peer was slower than withdrawMost.
func (l *link) handleNotifyLocked(m *message) error {
	x := l.t.registry.Find(l.peer.Rank, m.segment, m.generation)
	if x == nil {
		return nil
	}
	f := remote.UnpackFlag(m.a, m.code == 1)
	if err := x.Notifications.Check(f.ID, f.Value); err != nil {
		return err
	}
	f.Post(x.Notifications)
	return nil
}

// handleWithdrawnLocked drops the descriptor of a segment that the peer has withdrawn. It
// tells the peer as soon as no operation on the segment is under way.
func (l *link) handleWithdrawnLocked(m *message) {
	id := segment.ID(m.segment)
	if r := l.segments.Get(id); r != nil && r.Generation == m.generation {
		l.segments.Drop(id, r)
		if r.dead = true; r.open > 0 {
			return
		}
	}
	l.releaseLocked(id, m.generation)
}

// handleByeLocked records that the peer closes. All that it sent before has arrived.
func (l *link) handleByeLocked() {
	l.sendControlLocked(message{kind: kindByeAck})
	l.byeReceived = true
	if l.peer.Err() == nil {
		l.peer.MarkLeft()
		l.t.dying = append(l.t.dying, l)
	}
	l.t.array.WakeSleepers()
}

// handleReplyLocked ends the request that m is the reply to.
func (l *link) handleReplyLocked(m *message) error {
	r := l.requests.Get(m.number)
	if r == nil {
		return fmt.Errorf("rank %d: reply %d belongs to no request", l.peer.Rank, m.number)
	}
	l.requests.Remove(m.number)
	var err error
	switch {
	case m.kind == kindAttached && r.kind == kindAttach:
		r.segment = l.learnLocked(m)
	case m.kind == kindRefused:
		err = remote.Refusal(m.code).Error(l.peer.Rank, segment.ID(m.segment), l.t.cfg.Rank)
	case m.kind != kindResult || r.kind == kindAttach:
		err = fmt.Errorf("rank %d: its reply is not of the kind of the request", l.peer.Rank)
	}
	r.Complete(m.a, err)
	l.t.array.WakeSleepers()
	return nil
}
