package hoplite

import (
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

// Messages go through rings: the sender writes a record into the reader's ring, from the
// place of its own segment that mirrors it, with a notification of the record's first slot.
// The reader looks at the slot that comes next, so records are read in order however they
// arrive. A credit gives slots back that were read, and says that the mirror may be written
// again: a record that was read has been received.
//
// A message is one record, or several where it meets the end of the ring or a full one.
// Records of no bytes are not messages: each is a step of Close.

const (
	// mailBatch is how many records of one member a turn reads, so that others get theirs.
	mailBatch = 32
	// creditPart is the part of a ring that is read before the sender is told. A sender
	// never waits for more than it, so that it cannot wait in vain.
	creditPart = 4
)

// Flags in the value of a record's notification, besides the record's length in bytes.
const (
	recordSet   = 1 << 0 // always, as values are not 0
	recordMore  = 1 << 1 // the message goes on in the next record
	recordShift = 2
)

// An incoming ring is read by this rank.
type incoming struct {
	at       int    // slot of the next record
	taken    uint32 // slots read, wrapping around
	credited uint32 // of which the sender was told
	part     []byte // of a message whose end has not come; its memory is used again and again
	steps    phase  // records of no bytes: how far the member's Close is
}

// An outgoing ring is a member's, written by this rank.
type outgoing struct {
	at      int    // slot of the next record
	written uint32 // slots, wrapping around
	freed   uint32 // of which the reader has told
	backlog []letter
	spare   []byte // the memory of a letter that was sent
	tickets uint64 // flushes asked for
	flushed uint64 // of which this is the last that is done
}

// A letter waits for room in a ring.
type letter struct {
	text   []byte // what is left of it
	whole  []byte // all of it
	step   bool   // it is a record of no bytes
	ticket uint64 // of the flush that must be done before; 0 is none
}

func slotsOf(n int) int { return max(1, (n+slotSize-1)/slotSize) }

// hasMail reports whether the next record of a member is there.
func (s *Store) hasMail(from int) bool {
	return s.seg.Peek(s.lay.mail(from, s.peers[from].in.at)) != 0
}

// readMail reads at most limit records of a member and reports whether there were any. The
// caller holds mu.
func (s *Store) readMail(from, limit int) bool {
	in := &s.peers[from].in
	n := 0
	for ; n < limit && s.broken == nil; n++ {
		id := s.lay.mail(from, in.at)
		if s.seg.Peek(id) == 0 {
			break
		}
		v, err := s.seg.Reset(id)
		if err != nil || v == 0 {
			break
		}
		s.readRecord(from, v)
	}
	s.giveCredit(from)
	return n > 0
}

// readRecord reads the record that lies at the next slot, and hands its message to the
// core if it is the last one of it.
func (s *Store) readRecord(from int, v gaspi.Value) {
	in := &s.peers[from].in
	size := int(v >> recordShift)
	if slotsOf(size) > s.lay.ringSlots()-in.at {
		s.fail(fmt.Errorf("rank %d sent a record of %d bytes, which cannot be; use segment %d for nothing else", s.peers[from].rank, size, s.seg.ID()))
		return
	}
	text := s.seg.Bytes()[s.lay.in(from)+uint64(in.at*slotSize):][:size]
	in.at = (in.at + slotsOf(size)) % s.lay.ringSlots()
	in.taken += uint32(slotsOf(size))
	switch {
	case size == 0:
		in.steps++
		return
	case v&recordMore != 0:
		in.part = append(in.part, text...)
		return
	case len(in.part) > 0:
		in.part = append(in.part, text...)
		text, in.part = in.part, in.part[:0] // Decode copies what it keeps
	}
	m, err := core.Decode(text)
	if err != nil {
		s.fail(fmt.Errorf("rank %d: %w", s.peers[from].rank, err))
		return
	}
	s.stats.MessagesReceived++
	if s.phase < deaf {
		s.receive(core.Rank(from), m)
	}
}

// giveCredit tells a member how much of its ring was read, if that is worth it.
func (s *Store) giveCredit(from int) {
	p := &s.peers[from]
	if p.in.taken-p.in.credited < uint32(s.lay.ringSlots()/creditPart) || p.mute {
		return
	}
	n := gaspi.Notification{ID: s.lay.credit(s.me), Value: gaspi.Value(p.in.taken<<1 | 1)}
	if s.post(p, s.mailQueue(p), func(q *gaspi.Queue) error { return q.Notify(s.seg.At(p.rank, 0), n) }) {
		p.in.credited = p.in.taken
	}
}

// hasCredit reports whether a member has read something while letters wait for room.
func (s *Store) hasCredit(p *peer, i int) bool {
	return len(p.out.backlog) > 0 && s.seg.Peek(s.lay.credit(i)) != 0
}

// takeCredit sends what waits for room in a member's ring. The caller holds mu.
func (s *Store) takeCredit(i int) bool {
	if p := &s.peers[i]; !s.hasCredit(p, i) {
		return false
	}
	s.pushMail(i)
	return true
}

// free is how many slots of a member's ring are free.
func (s *Store) free(i int) int {
	out := &s.peers[i].out
	if v := s.seg.Peek(s.lay.credit(i)); v != 0 {
		if v, err := s.seg.Reset(s.lay.credit(i)); err == nil && v != 0 {
			// The value has lost the highest bit of the count.
			out.freed += (uint32(v>>1) - out.freed) << 1 >> 1
		}
	}
	return s.lay.ringSlots() - int(out.written-out.freed)
}

// postMail sends a message to another member, at once or as soon as there is room. It
// borrows m.Payload until it returns.
func (s *Store) postMail(to int, m *core.Message) {
	p := &s.peers[to]
	if !p.live || p.mute {
		return
	}
	s.stats.MessagesSent++
	size := core.HeaderSize + len(m.ID) + len(m.Payload)
	if m.Kind() != core.KindStopped || p.near {
		if n := slotsOf(size); len(p.out.backlog) == 0 && n <= s.lay.ringSlots()-p.out.at && n <= s.free(to) {
			m.Append(s.mirror(p, to, size)[:0])
			if s.writeRecord(to, size, 0) {
				return
			}
		}
	}
	if cap(p.out.spare) < size {
		p.out.spare = make([]byte, 0, size)
	}
	l := letter{text: m.Append(p.out.spare[:0])}
	l.whole, p.out.spare = l.text, nil
	if m.Kind() == core.KindStopped && !p.near {
		// Nothing that was put may arrive after the word that nothing does.
		l.ticket = s.flush(to)
	}
	p.out.backlog = append(p.out.backlog, l)
	s.pushMail(to)
}

// mirror is where the next record for a member is composed, for size bytes.
func (s *Store) mirror(p *peer, to, size int) []byte {
	return s.seg.Bytes()[s.lay.out(to)+uint64(p.out.at*slotSize):][:size:size]
}

// pushMail sends letters as far as there is room.
func (s *Store) pushMail(to int) {
	p := &s.peers[to]
	for len(p.out.backlog) > 0 && p.live && !p.mute {
		l := &p.out.backlog[0]
		free := min(s.free(to), s.lay.ringSlots()-p.out.at)
		if l.ticket > p.out.flushed || free == 0 {
			return
		}
		n := min(len(l.text), free*slotSize)
		more := 0
		if n < len(l.text) {
			more = recordMore
		}
		copy(s.mirror(p, to, n), l.text)
		if !s.writeRecord(to, n, more) || p.mute {
			return
		}
		if l.text = l.text[n:]; len(l.text) == 0 {
			p.out.spare = l.whole
			p.out.backlog[0] = letter{}
			p.out.backlog = p.out.backlog[1:]
		}
	}
	if len(p.out.backlog) == 0 {
		p.out.backlog = nil
	}
}

// writeRecord sends what lies in the mirror of the next slots. It reports false if the
// queue has no room.
func (s *Store) writeRecord(to, size, flags int) bool {
	p := &s.peers[to]
	off := uint64(p.out.at * slotSize)
	src := s.span(s.lay.out(to)+off, size)
	n := gaspi.Notification{ID: s.lay.mail(s.me, p.out.at), Value: gaspi.Value(size<<recordShift | flags | recordSet)}
	dst := s.seg.At(p.rank, s.lay.in(s.me)+off)
	if !s.post(p, s.mailQueue(p), func(q *gaspi.Queue) error { return q.WriteNotify(dst, src, n) }) {
		return false
	}
	p.out.at = (p.out.at + slotsOf(size)) % s.lay.ringSlots()
	p.out.written += uint32(slotsOf(size))
	return true
}

// mailQueue carries messages to a member: not that of its transfers, behind which they
// would wait.
func (s *Store) mailQueue(p *peer) *sendQueue {
	if p.near {
		return nil
	}
	return s.lanes[0]
}

// post issues an operation with a member on a lane, or if that is nil on the queue to near
// ones. It reports false if it must be tried again when the lane has room. A member that
// refuses it gets nothing more, and what was for it is dropped, as it is gone or leaves; the store
// ends if that does not turn out to be so (suspect). Any other refusal ends the store at once, as
// messages would be missing.
func (s *Store) post(p *peer, l *sendQueue, issue func(*gaspi.Queue) error) bool {
	q := s.queue
	if l != nil {
		q = l.queue
	}
	err := issue(q)
	if errors.Is(err, gaspi.ErrQueueFull) && l == nil {
		_ = q.Wait(forever) // all of it has ended, so that this gives entries back and waits for nothing
		err = issue(q)
	}
	switch {
	case err == nil && l == nil:
		return true
	case err == nil:
		l.posted()
		return true
	case errors.Is(err, gaspi.ErrQueueFull):
		l.askRoom()
		return false
	}
	p.mute, p.out.backlog = true, nil
	switch {
	case errors.Is(err, gaspi.ErrNoSegment):
		s.suspect(p, err)
	case !errors.Is(err, gaspi.ErrRankDead):
		s.fail(err)
	}
	return true
}
