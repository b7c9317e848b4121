package rdma

import (
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// handleLocked deals with an event of the fabric.
func (t *Transport) handleLocked(e *event) {
	switch e.kind {
	case eventDone:
		t.endedLocked(e.token, nil)
	case eventFailed:
		t.endedLocked(e.token, e.err)
	case eventMessage:
		if err := t.hearLocked(&e.message); err != nil {
			t.cfg.Log.Warn("gaspi: dropped a message", "rank", t.cfg.Rank, "why", err)
		}
	case eventData:
		if err := t.shelf.flags.post(e.data); err != nil {
			t.cfg.Log.Warn("gaspi: dropped a notification", "rank", t.cfg.Rank, "why", err)
		}
	case eventBroken:
		t.breakLocked(e.err)
	}
}

// breakLocked ends everything because the endpoint is of no use any more.
func (t *Transport) breakLocked(cause error) {
	if t.broken.Swap(true) {
		return
	}
	t.cfg.Log.Error("gaspi: the network does not work any more", "rank", t.cfg.Rank, "why", cause)
	for r := range t.links {
		if base.Rank(r) != t.cfg.Rank {
			_ = t.link(base.Rank(r)).unreachableLocked(cause)
		}
	}
}

// hearLocked deals with a message. Nothing that it says is believed: it is checked
// against what is exposed here and now.
func (t *Transport) hearLocked(raw *[messageSize]byte) error {
	m := &t.heard
	if err := m.parse(raw, t.secret, t.cfg.Size); err != nil {
		return err
	}
	if base.Rank(m.from) == t.cfg.Rank {
		return errors.New("a message of this rank to itself")
	}
	l := t.link(base.Rank(m.from))
	l.heard = true
	switch m.kind {
	case kindAttach:
		l.describeLocked(m)
	case kindAtomic:
		l.applyLocked(m)
	case kindFlush:
		l.tellLocked(message{kind: kindResult, number: m.number})
	case kindNotify:
		return l.postLocked(m)
	case kindWithdrawn:
		l.forgetLocked(m)
	case kindReleased:
		t.releasedLocked(l.rank, m.generation)
	case kindBye:
		l.leftLocked()
	case kindByeHeard:
		l.parted = true
		t.board.Rouse()
	default:
		return l.answerLocked(m)
	}
	return nil
}

// describeLocked answers the question what a segment is like.
func (l *link) describeLocked(m *message) {
	t := l.t
	if uint64(m.segment) < uint64(len(t.shelf.slots)) {
		if x := t.shelf.slots[m.segment].Load(); x != nil && x.granted[l.rank] {
			x.holds[l.rank] = true
			l.tellLocked(message{
				kind: kindAttached, number: m.number, segment: m.segment, generation: x.generation, pages: uint16(x.flagPages),
				a: x.seg.Size(), b: uint64(x.board.Len()) | uint64(x.flagFirst)<<32, c: x.region.base, d: x.region.key,
			})
			return
		}
	}
	l.refuseLocked(m, refusedSegment)
}

func (l *link) refuseLocked(m *message, why refusal) {
	l.tellLocked(message{kind: kindRefused, code: uint8(why), number: m.number, segment: m.segment, generation: m.generation})
}

// applyLocked does an atomic.
func (l *link) applyLocked(m *message) {
	x := l.t.shelf.findLocked(l.rank, m.segment, m.generation)
	if x == nil {
		l.refuseLocked(m, refusedSegment)
		return
	}
	word, err := x.seg.Word(m.c)
	switch {
	case errors.Is(err, base.ErrUnaligned):
		l.refuseLocked(m, refusedUnaligned)
		return
	case err != nil || transport.AtomicOp(m.code) > transport.FetchXor:
		l.refuseLocked(m, refusedRange)
		return
	}
	old := transport.Apply(word, transport.AtomicOp(m.code), m.a, m.b)
	l.tellLocked(message{kind: kindResult, number: m.number, a: old})
}

// postLocked posts a notification that came as a message. Nothing is said of one that
// is for a withdrawn segment: the peer was slower than withdrawMost.
func (l *link) postLocked(m *message) error {
	x := l.t.shelf.findLocked(l.rank, m.segment, m.generation)
	if x == nil {
		return nil
	}
	f := transport.Flag{ID: notify.ID(m.a), Value: notify.Value(m.a >> 32), Add: m.code == 1}
	if err := x.board.Check(f.ID, f.Value); err != nil {
		return err
	}
	f.Post(x.board)
	return nil
}

// forgetLocked drops what is known of a segment that the peer has withdrawn, and says
// so as soon as nothing is on its way there.
func (l *link) forgetLocked(m *message) {
	if uint64(m.segment) < uint64(len(l.remotes)) {
		slot := &l.remotes[m.segment]
		if r := slot.Load(); r != nil && r.generation == m.generation {
			slot.Store(nil)
			if r.dead = true; r.open > 0 {
				return
			}
		}
	}
	l.releaseLocked(segment.ID(m.segment), m.generation)
}

// leftLocked takes note that the peer closes. What it sent before has arrived.
func (l *link) leftLocked() {
	l.tellLocked(message{kind: kindByeHeard})
	l.left = true
	if l.lost.Load() == nil && !l.t.closed.Load() {
		l.lost.Store(&base.RankError{Rank: l.rank, Reason: "it has closed its connections"})
		l.t.dying = append(l.t.dying, l)
	}
	l.t.board.Rouse()
}

// answerLocked gives an answer to who waits for it.
func (l *link) answerLocked(m *message) error {
	q := l.asked.take(m.number)
	if q == nil {
		return fmt.Errorf("rank %d answers question %d, which nobody asked", l.rank, m.number)
	}
	switch {
	case m.kind == kindAttached && q.kind == kindAttach:
		q.remote = l.learnLocked(m)
	case m.kind == kindRefused:
		q.err = l.refusal(m)
	case m.kind != kindResult || q.kind == kindAttach:
		q.err = fmt.Errorf("rank %d answers something else than it was asked", l.rank)
	}
	q.answer = *m
	q.done.Store(true)
	l.t.board.Rouse()
	return nil
}

func (l *link) refusal(m *message) error {
	switch refusal(m.code) {
	case refusedUnaligned:
		return fmt.Errorf("%w: the memory of segment %d of rank %d does not start at one", base.ErrUnaligned, m.segment, l.rank)
	case refusedRange:
		return fmt.Errorf("%w: an atomic with segment %d of rank %d", base.ErrOutOfRange, m.segment, l.rank)
	default:
		return noSegment(l.rank, segment.ID(m.segment), l.t.cfg.Rank)
	}
}
