package tcp

import (
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// This file handles the frames of a peer. No field of a frame is trusted: requests are
// checked against the segments that are exposed at that moment, replies against the
// pending requests.

var (
	errBounds          = errors.New("it leaves the segment")
	errFlag            = errors.New("its notification does not exist")
	errReady           = errors.New("its kindReady is not the first frame")
	errUnexpectedReply = errors.New("its reply belongs to no request")
)

// handle handles a frame whose header has arrived. The caller holds the lock of the
// inbox.
func (c *conn) handle(f *frame) error {
	switch f.kind {
	case kindPut:
		return c.handlePut(f)
	case kindNotify:
		return c.handleNotify(f)
	case kindGet:
		return c.handleGet(f)
	case kindAtomic:
		return c.handleAtomic(f)
	case kindFlush:
		return c.reply(&frame{kind: kindResult, number: f.number})
	case kindAttach:
		return c.handleAttach(f)
	case kindBye:
		c.byeReceived.Store(true)
		return nil
	case kindData:
		return c.handleData(f)
	case kindWithdrawn:
		c.link.dropDescriptor(segment.ID(f.segment), f.generation)
		return nil
	case kindRefused:
		return c.handleRefused(f)
	case kindReady:
		return errReady
	default:
		return c.handleReply(f)
	}
}

// find returns the region that the peer addresses, or nil.
func (c *conn) find(id uint32, generation uint64) *region {
	return c.t.registry.Find(c.link.peer.Rank, id, generation)
}

func (c *conn) handlePut(f *frame) error {
	i := &c.in
	i.f, i.rest, i.dst, i.into, i.flagged = *f, f.length, nil, nil, nil
	x := c.find(f.segment, f.generation)
	if x != nil {
		mem, ok := x.Memory(f.offset, f.length)
		if !ok {
			return errBounds
		}
		i.dst, i.into = mem, x
		if f.flags&flagNote != 0 {
			flagged, err := c.flagRegion(f)
			if err != nil {
				return err
			}
			if i.flagged = flagged; flagged == nil {
				i.dst = nil
			}
		}
	}
	if f.length == 0 {
		return c.putArrived()
	}
	return nil
}

// flagRegion returns the region that the notification of f is for, or nil.
func (c *conn) flagRegion(f *frame) (*region, error) {
	x := c.find(uint32(f.b), f.c)
	if x != nil && x.Notifications.Check(notify.ID(f.a), notify.Value(f.a>>32)) != nil {
		return nil, errFlag
	}
	return x, nil
}

// putArrived ends a put whose bytes have all arrived.
func (c *conn) putArrived() error {
	i := &c.in
	f, into, flagged := &i.f, i.into, i.flagged
	i.forget()
	switch {
	case into == nil || !into.Usable():
		return c.refusePut(f, f.segment, f.generation)
	case f.flags&flagNote == 0:
		return nil
	case flagged == nil || !flagged.Usable():
		return c.refusePut(f, uint32(f.b), f.c)
	}
	postFlag(f, flagged)
	return nil
}

func (c *conn) handleNotify(f *frame) error {
	x, err := c.flagRegion(f)
	if err != nil {
		return err
	}
	if x == nil {
		return c.refusePut(f, uint32(f.b), f.c)
	}
	postFlag(f, x)
	return nil
}

func postFlag(f *frame, x *region) {
	remote.UnpackFlag(f.a, f.flags&flagAdd != 0).Post(x.Notifications)
}

// refusePut tells the peer that a put or a notification had no effect.
func (c *conn) refusePut(f *frame, segment uint32, generation uint64) error {
	return c.reply(&frame{
		kind: kindRefused, flags: flagPosted, code: uint8(remote.RefusedSegment), number: f.number,
		segment: segment, generation: generation,
	})
}

// refuse tells the peer that a request was not carried out.
func (c *conn) refuse(f *frame, why remote.Refusal) error {
	return c.reply(&frame{kind: kindRefused, code: uint8(why), number: f.number, segment: f.segment, generation: f.generation})
}

func (c *conn) handleAtomic(f *frame) error {
	x := c.find(f.segment, f.generation)
	if x == nil {
		return c.refuse(f, remote.RefusedSegment)
	}
	old, why := x.Atomic(transport.AtomicOp(f.code), f.offset, f.a, f.b)
	switch why {
	case 0:
		return c.reply(&frame{kind: kindResult, number: f.number, a: old})
	case remote.RefusedRange:
		return errBounds
	default:
		return c.refuse(f, why)
	}
}

// handleReply ends the request that f is the reply to: a kindResult or kindAttached.
func (c *conn) handleReply(f *frame) error {
	if f.kind == kindAttached && c.link.segments.Check(segment.ID(f.segment)) != nil {
		return errUnexpectedReply // before match, so that the end of the connection ends the request
	}
	r, err := c.match(f)
	if err != nil {
		return err
	}
	if f.kind == kindAttached {
		r.segment = &remote.Descriptor{Generation: f.generation, Size: f.offset, Notifications: uint32(f.a)}
		c.link.segments.Set(segment.ID(f.segment), r.segment)
	}
	c.link.finish(r, f.a, nil)
	return nil
}

// match returns the request that f is the reply to, and takes it out of the table unless it is a get.
func (c *conn) match(f *frame) (*request, error) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	r := c.out.requests.pending.Get(f.number)
	if r == nil || f.kind != kindRefused && (r.kind == kindGet || (f.kind == kindAttached) != (r.kind == kindAttach)) {
		return nil, errUnexpectedReply
	}
	if r.kind != kindGet {
		c.out.removeLocked(f.number)
	}
	return r, nil
}

// finishGet takes a get out of the table, ends it with what is behind it, and keeps it for the next.
func (c *conn) finishGet(number uint32, r *request, err error) {
	o := &c.out
	o.mu.Lock() // to the end: who asks for a notification meanwhile sees all of it or nothing
	defer o.mu.Unlock()
	o.removeLocked(number)
	if err != nil {
		o.queueIDs.refuseGet(r.queue)
	}
	after := r.after
	r.after = nil
	c.link.finish(r, 0, err)
	o.recycleLocked(r)
	for r = after; r != nil; r = after {
		after, r.after = r.after, nil
		if o.queueIDs.hasRefusedGet(r.queue) {
			r.array = nil
		}
		c.link.finish(r, 0, nil)
	}
}

// handleData directs the payload of f to the destination of the get that it belongs to.
func (c *conn) handleData(f *frame) error {
	c.out.mu.Lock()
	r := c.out.requests.pending.Get(f.number)
	c.out.mu.Unlock()
	if r == nil || r.kind != kindGet || f.offset != r.received {
		return errUnexpectedReply
	}
	rest := uint64(len(r.dst)) - r.received
	if f.length > rest || (f.length == rest) != (f.flags&flagLast != 0) {
		return fmt.Errorf("%w: %d bytes of %d", errUnexpectedReply, f.length, rest)
	}
	i := &c.in
	i.forget()
	i.f, i.rest, i.req = *f, f.length, r
	i.dst = r.dst[r.received : r.received+f.length]
	return nil
}

// dataArrived ends a frame of the reply to a get. Its bytes have all arrived.
func (c *conn) dataArrived() error {
	i := &c.in
	r := i.req
	i.forget()
	r.received += i.f.length
	if i.f.flags&flagLast == 0 {
		return nil
	}
	c.finishGet(i.f.number, r, nil)
	return nil
}

// handleRefused ends a request that the peer refused, or makes its queue fail if it was
// a put.
func (c *conn) handleRefused(f *frame) error {
	l := c.link
	l.dropDescriptor(segment.ID(f.segment), f.generation)
	if f.flags&flagPosted != 0 {
		c.putRefused(f)
		return nil
	}
	r, err := c.match(f)
	if err != nil {
		return err
	}
	why := remote.Refusal(f.code).Error(l.peer.Rank, segment.ID(f.segment), c.t.cfg.Rank)
	if r.kind == kindGet {
		c.finishGet(f.number, r, why)
	} else {
		l.finish(r, 0, why)
	}
	return nil
}

func (c *conn) putRefused(f *frame) {
	c.out.mu.Lock()
	g := c.out.queueIDs.get(f.number)
	if g == nil {
		c.out.mu.Unlock()
		return
	}
	err := fmt.Errorf("%w: rank %d had withdrawn segment %d when a write or notification arrived there", base.ErrNoSegment, c.link.peer.Rank, f.segment)
	g.refused = err
	q := g.queue
	c.out.mu.Unlock()
	q.Fail(err)
}
