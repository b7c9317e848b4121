package tcp

import (
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// What this rank does for a peer. Nothing that a frame says is believed: it is
// checked against what is exposed here and now.

var (
	errBounds  = errors.New("it leaves the segment")
	errNote    = errors.New("its notification does not exist")
	errNoAsker = errors.New("it answers what was not asked")
)

// obey deals with a frame whose header has arrived. The caller holds the lock of
// the inbox.
func (c *conn) obey(f *frame) error {
	switch f.kind {
	case kindPut:
		return c.obeyPut(f)
	case kindNotify:
		return c.obeyNotify(f)
	case kindGet:
		return c.obeyGet(f)
	case kindAtomic:
		return c.obeyAtomic(f)
	case kindFlush:
		return c.reply(&frame{kind: kindResult, number: f.number})
	case kindAttach:
		return c.t.exposed.describe(c, f)
	case kindBye:
		c.left.Store(true)
		return nil
	default:
		return c.hear(f)
	}
}

func (c *conn) obeyPut(f *frame) error {
	i := &c.in
	i.f, i.rest, i.dst, i.into, i.note = *f, f.length, nil, nil, nil
	x := c.t.exposed.find(c.link.rank, f.segment, f.generation)
	if x != nil {
		mem, ok := x.memory(f.offset, f.length)
		if !ok {
			return errBounds
		}
		i.dst, i.into = mem, x
		if f.flags&flagNote != 0 {
			note, err := c.noted(f)
			if err != nil {
				return err
			}
			if i.note = note; note == nil {
				i.dst = nil
			}
		}
	}
	if f.length == 0 {
		return c.landed()
	}
	return nil
}

// noted is where the notification of f goes; nil if there is no such segment.
func (c *conn) noted(f *frame) (*exposure, error) {
	x := c.t.exposed.find(c.link.rank, uint32(f.b), f.c)
	if x != nil && x.board.Check(notify.ID(f.a), notify.Value(f.a>>32)) != nil {
		return nil, errNote
	}
	return x, nil
}

// landed ends a put whose bytes have all arrived.
func (c *conn) landed() error {
	i := &c.in
	f, into, note := &i.f, i.into, i.note
	i.forget()
	switch {
	case into == nil || !into.usable():
		return c.refuse(f, f.segment, f.generation)
	case f.flags&flagNote == 0:
		return nil
	case note == nil || !note.usable():
		return c.refuse(f, uint32(f.b), f.c)
	}
	postNote(f, note)
	return nil
}

func (c *conn) obeyNotify(f *frame) error {
	x, err := c.noted(f)
	if err != nil {
		return err
	}
	if x == nil {
		return c.refuse(f, uint32(f.b), f.c)
	}
	postNote(f, x)
	return nil
}

func postNote(f *frame, x *exposure) {
	n := transport.Flag{ID: notify.ID(f.a), Value: notify.Value(f.a >> 32), Add: f.flags&flagAdd != 0}
	n.Post(x.board)
}

// refuse says that a put or a notification came to nothing.
func (c *conn) refuse(f *frame, segment uint32, generation uint64) error {
	return c.reply(&frame{
		kind: kindRefused, flags: flagPosted, code: uint8(refusedSegment), number: f.number,
		segment: segment, generation: generation,
	})
}

func (c *conn) refuseRequest(f *frame, code refusal) error {
	return c.reply(&frame{kind: kindRefused, code: uint8(code), number: f.number, segment: f.segment, generation: f.generation})
}

func (c *conn) obeyAtomic(f *frame) error {
	x := c.t.exposed.find(c.link.rank, f.segment, f.generation)
	if x == nil {
		return c.refuseRequest(f, refusedSegment)
	}
	word, err := x.seg.Word(f.offset)
	switch {
	case errors.Is(err, base.ErrUnaligned):
		return c.refuseRequest(f, refusedUnaligned)
	case err != nil:
		return errBounds
	}
	old := transport.Apply(word, transport.AtomicOp(f.code), f.a, f.b)
	return c.reply(&frame{kind: kindResult, number: f.number, a: old})
}

// pieceMost is how long a frame of an answer is at most, so that a long one does
// not hold up what else goes to the peer.
const pieceMost = 256 << 10

// A serving is what remains of an answer that takes several frames.
type serving struct {
	x      *exposure
	number uint32
	mem    []byte // not yet queued
	offset uint64 // of mem in the answer
}

// servings are answers that wait for the one before to be queued to its end.
// Answers come in the order of the questions.
type servings []serving

func (c *conn) obeyGet(f *frame) error {
	x := c.t.exposed.find(c.link.rank, f.segment, f.generation)
	if x == nil {
		return c.refuseRequest(f, refusedSegment)
	}
	mem, ok := x.memory(f.offset, f.length)
	if !ok {
		return errBounds
	}
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended != nil {
		return nil
	}
	if o.owed+len(o.serving) >= owedMost {
		return errFlood
	}
	s := serving{x: x, number: f.number, mem: mem}
	if len(o.serving) > 0 {
		o.serving = append(o.serving, s)
		return nil
	}
	piece := s.next(&o.head)
	if r, _ := o.passLocked(piece); r != nil {
		r.from, r.owed = x, true
		o.owed++
	}
	if len(s.mem) > 0 {
		o.serving = append(o.serving, s)
		if o.first == nil {
			o.serveLocked()
		}
	}
	return nil
}

// next takes the next piece off s and writes its header.
func (s *serving) next(h *[headSize]byte) []byte {
	piece := s.mem[:min(len(s.mem), pieceMost)]
	f := frame{kind: kindData, number: s.number, offset: s.offset, length: uint64(len(piece))}
	s.mem = s.mem[len(piece):]
	s.offset += uint64(len(piece))
	if len(s.mem) == 0 {
		f.flags = flagLast
	}
	f.put(h)
	return piece
}

// serveLocked queues the next piece of the answer that is under way, if no piece
// waits.
func (o *outbox) serveLocked() {
	for len(o.serving) > 0 && o.owed == 0 {
		s := &o.serving[0]
		if !s.x.usable() {
			f := frame{kind: kindRefused, code: uint8(refusedSegment), number: s.number, segment: uint32(s.x.id), generation: s.x.generation}
			s.mem = nil
			f.put(&o.head)
			o.queueLocked(nil).owed = true
		} else {
			r := o.queueLocked(s.next(&o.head))
			r.from, r.owed = s.x, true
		}
		o.owed++
		if len(s.mem) == 0 {
			o.serving = append(o.serving[:0], o.serving[1:]...)
		}
	}
}

// hear deals with what a peer says about its own segments and this rank's
// questions.
func (c *conn) hear(f *frame) error {
	switch f.kind {
	case kindData:
		return c.hearData(f)
	case kindWithdrawn:
		c.link.forget(segment.ID(f.segment), f.generation)
		return nil
	case kindRefused:
		return c.hearRefused(f)
	}
	r, err := c.answers(f)
	if err != nil {
		return err
	}
	if f.kind == kindAttached {
		if err := c.link.learn(f); err != nil {
			return err
		}
	}
	r.answer = *f
	c.finish(r, nil)
	return nil
}

// answers takes the request that f answers.
func (c *conn) answers(f *frame) (*request, error) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	r := c.out.asked.numbered(f.number)
	if r == nil || f.kind != kindRefused && (r.kind == kindGet || (f.kind == kindAttached) != (r.kind == kindAttach)) {
		return nil, errNoAsker
	}
	c.out.answeredLocked(f.number)
	return r, nil
}

// finish ends a request and keeps it for the next, if nobody else has it.
func (c *conn) finish(r *request, err error) {
	mine := r.queue != nil
	c.link.finish(r, err)
	if mine {
		c.out.mu.Lock()
		c.out.recycleLocked(r)
		c.out.mu.Unlock()
	}
}

func (c *conn) hearData(f *frame) error {
	c.out.mu.Lock()
	r := c.out.asked.numbered(f.number)
	c.out.mu.Unlock()
	if r == nil || r.kind != kindGet || f.offset != r.got {
		return errNoAsker
	}
	rest := uint64(len(r.dst)) - r.got
	if f.length > rest || (f.length == rest) != (f.flags&flagLast != 0) {
		return fmt.Errorf("%w: %d bytes of %d", errNoAsker, f.length, rest)
	}
	i := &c.in
	i.forget()
	i.f, i.rest, i.req = *f, f.length, r
	i.dst = r.dst[r.got : r.got+f.length]
	return nil
}

// arrived ends a frame of an answer whose bytes are all there.
func (c *conn) arrived() error {
	i := &c.in
	r := i.req
	i.forget()
	r.got += i.f.length
	if i.f.flags&flagLast == 0 {
		return nil
	}
	c.out.mu.Lock()
	c.out.answeredLocked(i.f.number)
	c.out.mu.Unlock()
	c.finish(r, nil)
	return nil
}

func (c *conn) hearRefused(f *frame) error {
	l := c.link
	l.forget(segment.ID(f.segment), f.generation)
	if f.flags&flagPosted != 0 {
		c.out.mu.Lock()
		g := c.out.tags.numbered(f.number)
		if g == nil {
			c.out.mu.Unlock()
			return nil
		}
		err := fmt.Errorf("%w: rank %d had withdrawn segment %d when a write or notification arrived there", base.ErrNoSegment, l.rank, f.segment)
		g.refused = err
		q := g.queue
		c.out.mu.Unlock()
		q.Fail(err)
		return nil
	}
	r, err := c.answers(f)
	if err != nil {
		return err
	}
	why := noSegment(l.rank, segment.ID(f.segment), c.t.cfg.Rank)
	if refusal(f.code) == refusedUnaligned {
		why = fmt.Errorf("%w: the memory of segment %d of rank %d does not start at one", base.ErrUnaligned, f.segment, l.rank)
	}
	c.finish(r, why)
	return nil
}
